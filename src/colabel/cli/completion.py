"""`colabel completion`: the script that teaches a shell to complete colabel's commands."""

import click
from click.shell_completion import get_completion_class

from colabel.cli.screen import Screen
from colabel.cli.verb import Answer, verb


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@verb
def completion(screen: Screen, shell: str) -> Answer:
    """Print the completion script of a shell.

    \b
    bash:  colabel completion bash > ~/.local/share/bash-completion/completions/colabel
    zsh:   colabel completion zsh > ~/.zfunc/_colabel
    fish:  colabel completion fish > ~/.config/fish/completions/colabel.fish
    """
    root = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    script = kind(root, {}, "colabel", "_COLABEL_COMPLETE").source()
    if not screen.json:
        click.echo(script)
    return Answer({"shell": shell, "script": script})
