"""Which messages a site answers in a training session. Apart from roles.py: this needs torch."""

from colabel.conversation import Message
from colabel.federation import own_training, roles
from colabel.federation.own_training import Watch
from colabel.federation.site import Handler, Role
from colabel.protocols import keys


def training_role(watch: Watch = lambda name, labels, weights: None) -> Role:
    """A labelling site that can also train; what it compares are embeddings."""
    handlers: dict[type[Message], Handler] = {
        **roles.LABELLING.handlers,
        keys.Hello: own_training.welcome,
        own_training.HoldModel: own_training.hold_model,
        own_training.LabelOnce: own_training.label_once,
        own_training.Train: own_training.training(watch),
    }
    return roles.LABELLING._replace(
        handlers=handlers, rows=own_training.embedded, sources=own_training.predicted
    )
