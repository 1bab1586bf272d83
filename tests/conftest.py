"""What all tests share."""

import pytest
from hypothesis import settings

from colabel.data import Sites
from consortia import make_sites


@pytest.fixture
def sites() -> Sites:
    return make_sites()


# how long an example may take says more about the machine than about the code
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
