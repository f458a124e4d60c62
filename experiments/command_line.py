"""``dp-replica``, or ``python -m experiments``: from words to one of `experiments.commands`, and an exit code.

Nothing large is imported until it is known what the words ask for: a help needs neither Hydra nor pandas.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module, metadata, util
from itertools import chain, takewhile
from pathlib import Path
from string import Template
from typing import NoReturn

from yaml import YAMLError

import dp_replica
from algorithms.installation import lead_caches_away
from documents import search_path
from documents.yaml_files import DocumentError, parse_yaml
from experiments.catalogue.kinds import format_choices
from experiments.catalogue.screen import hang_text
from experiments.config.paths import CONF
from experiments.errors import BadInput, describe_os_error, one_line, print_to_stderr, replace_bytes, suggest_name
from experiments.processes import limit_threads, postpone_collection, resume_collection

_DEFAULT = "reproduce"
_EXCLUSIVE = ("multirun", "cfg", "info", "shell_completion")
_BY_HYDRA = ("hydra_help", "shell_completion", "cfg", "info")
_BESIDE = ("resolve", "package", "config_name")
_INFO = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")
_CHOICES = "APP_CONFIG_GROUPS"  # Hydra's name, in the template of a help, for what there is to choose
_COMMANDS = "COMMANDS"  # likewise, ours
CHOSEN = ("algorithm", "dataset", "executor", "paper")
"""Config groups whose options a help lists."""
_NO_FOLDER = "Hydra writes no folder of its own here: results=FOLDER says where everything is kept"
_NO_LAUNCHER = "launchers do not apply, as one call runs the cells of a whole grid: choose executor=local|threads|dask"
_NO_MODE = "one call runs a whole grid, of one setting or of many: leave it out"
_REFUSED = {
    "hydra/sweeper": "other sweepers compose each job, a tenth of a second each: leave it out, lists of values are run",
    "hydra.sweeper.lists": "which settings may have several values belongs to the command: leave it out",
    "hydra/launcher": _NO_LAUNCHER,
    "hydra.launcher": _NO_LAUNCHER,
    "hydra.mode": _NO_MODE,
    "hydra.run": _NO_FOLDER,
    "hydra.sweep": _NO_FOLDER,
    "hydra.output_subdir": _NO_FOLDER,
    "hydra.job.chdir": _NO_FOLDER,
}
"""Settings of Hydra that would have no effect, and what to do instead."""

_GROUPS = "paper|dataset|algorithm|executor|do"
_OPTIONS = re.compile(rf"^(\+*(?:{_GROUPS}))=([\w.:+-]+(?:,[\w.:+-]+)*)$")
"""A config group and options of it that are plain words: no pattern, no quotes."""
_PATH = re.compile(r"^(results|runs|file|to|page|mlruns|before|after)=(?!null$)([^'\"\[{,][^,]*)$")
"""A path that is not in quotes, and no list."""
_NO_PATH = re.compile(r"^(results|runs|file|to|page|mlruns|before|after)=(''|\"\")?$")
_NO_OPTION = re.compile(rf"^\+*({_GROUPS})(?:@[^=]*=|=\s*[\[{{])")
"""A config group with what is no option: in another package of the configuration, or a list or mapping in brackets."""

_ALIASES = {word: command for command, word in search_path.COMMAND_WORDS.items()}
_SENTENCE = re.compile(r"^# (?!@)(.+)$", flags=re.MULTILINE)
"""The line of a command's file that says what it does: its first comment but the one for Hydra."""
_HELP = "help"
_LINE = "COMP_LINE"  # in which shells keep what is being typed
_WORDS = {
    "new": ("what", "name"),
    "describe": ("file",),
    "list": ("what",),
    "judge": ("runs", "paper"),
    "compare": ("before", "after"),
}
"""Settings that a command takes as words behind its name, in order."""
_PAPER_FILE = re.compile(r"^paper=(['\"]?)(.*/.*|.*\.ya?ml)\1$")
"""A paper that is named by the path of its file."""


def main() -> None:
    """Run the command line and exit with its code: 0 all done, 1 some failed or skipped, 2 bad input."""
    limit_threads()
    lead_caches_away()
    postpone_collection()
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then lets exceptions through instead of printing them itself
    with _exit_codes():
        arguments = sys.argv[1:]
        options = read_options(arguments)
        command = find_command(options.settings)
        search_path.use_folders([*search_path.list_added(), *filter(None, [options.config_dir])])
        if options.help:
            print(format_help(command))
            return
        if options.version:
            print(format_version())
            return
        settings = quote_names(options.settings)
        if words := _name_words_of_hydra(options):
            _show_by_hydra(words, settings, command)
            return
        from experiments.composition import start_hydra

        with start_hydra(command):
            from experiments.request import read_request

            request = read_request(settings, list(map(replace_bytes, arguments)), options.config_name)
            request.check_papers()
            module = import_module(f"{__package__}.commands.{request.command}")
            resume_collection()
            sys.exit(module.run_command(request))


def _show_by_hydra(words: Sequence[str], settings: Sequence[str], command: str) -> None:
    from experiments.composition import show_hydra

    if "install=bash" in settings:
        print("COMP_WORDBREAKS=${COMP_WORDBREAKS//:}")  # or bash takes algorithm=edprf:s for two words
    if not any(word.startswith("query=") for word in settings):
        show_hydra(words, settings, command)
        return
    with suppress(Exception):  # an error would stand in the prompt of a shell, which asks to complete a word
        os.environ[_LINE], commands = translate_line(os.environ[_LINE])
        print("\n".join(commands))
        show_hydra(words, settings, command)


def translate_line(line: str) -> tuple[str, list[str]]:
    """Return a line that is being typed as Hydra reads it, and the commands that its last word may be.

    A folder that it names with ``--config-dir`` is added to the catalogue.

    Examples
    --------
    >>> translate_line("dp-replica paper=2 repe"), translate_line("dp-replica describe algorithm=rd")
    (("dp-replica paper='2' repe", []), ("dp-replica do='describe' algorithm=rd", []))
    >>> translate_line("dp-replica aud"), translate_line("dp-replica help aud")
    (('dp-replica aud', ['audit']), ('dp-replica aud', ['audit']))
    """
    program, *words = line.split()
    last = "" if line[-1].isspace() or not words else words.pop()
    options, _ = _make_parser().parse_known_intermixed_args(words)
    if options.config_dir:
        search_path.use_folders([*search_path.list_added(), options.config_dir])
    asks_help = options.settings[:1] == [_HELP]
    words = quote_names(translate_words(options.settings[asks_help:]))
    commands = [] if words or "=" in last else [*_list_options("do"), *_ALIASES, _HELP]
    return " ".join([program, *words, last]), sorted(filter(lambda name: name.startswith(last), commands))


def _name_words_of_hydra(options: argparse.Namespace) -> list[str]:
    """Return the options with which Hydra does by itself what is asked for; none if a command is to be run."""
    if not any(getattr(options, name) for name in _BY_HYDRA):
        return []
    given = [(f"--{name.replace('_', '-')}", getattr(options, name)) for name in (*_BY_HYDRA, *_BESIDE)]
    return list(chain.from_iterable([name] if value is True else [name, value] for name, value in given if value))


def translate_words(arguments: Sequence[str]) -> list[str]:
    """Return the words beside options with settings in place of the plain ones that begin them: a command's name.

    Examples
    --------
    >>> translate_words(["new", "paper", "mine", "to=here"])
    ['do=new', "what='paper'", "name='mine'", 'to=here']
    >>> translate_words(["run", "paper=2"]), translate_words(["paper=2"])
    (['do=reproduce', 'paper=2'], ['paper=2'])
    >>> translate_words(["judge", "my-runs.csv", "my-paper.yaml"])
    ['do=judge', "runs='my-runs.csv'", "file='my-paper.yaml'"]
    >>> translate_words(["describe", "metric=rmse"])
    ['do=describe', 'metrics=rmse']
    """
    arguments = [re.sub("^metric=", "metrics=", word) for word in arguments]
    plain = list(takewhile(_is_plain, arguments))
    command = _ALIASES.get(plain[0], plain[0]) if plain else ""
    if command not in _list_options("do"):
        return _name_paper_file(arguments)
    words, names = plain[1:], _WORDS.get(command, ())
    if len(words) > len(names):
        raise BadInput(f"{plain[0]} does not take the word {words[len(names)]!r}: write name=value")
    literal = [word.replace("${", r"\${") for word in words]  # which would stand for another setting
    settings = [f"{name}={_quote_word(word)}" for name, word in zip(names, literal, strict=False)]
    return _name_paper_file([f"do={command}", *settings, *arguments[len(plain) :]])


def _name_paper_file(words: Sequence[str]) -> list[str]:
    """Return words in which ``file`` names a paper to be judged by if it is a path: others are of the catalogue."""
    if "do=judge" not in words:
        return list(words)
    paths = [_PAPER_FILE.match(word) for word in words]
    return [f"file={_quote_word(path[2])}" if path else word for word, path in zip(words, paths, strict=True)]


def _is_plain(word: str) -> bool:
    """Return whether a word is no setting: it has no ``=``, or is the path of a file that does."""
    is_path = word.startswith(("./", "../", "/")) or os.path.isfile(word)
    return ("=" not in word or is_path) and not word.startswith(("-", "+", "~"))


def _quote_word(word: str) -> str:
    """Return a word as Hydra reads text: in quotes, those in it and backslashes before them escaped."""
    return "'" + re.sub(r"(\\*)'", r"\1\1\'", word) + "'"


class _Parser(argparse.ArgumentParser):
    """Says of options that it cannot read what other bad input says."""

    def error(self, message: str) -> NoReturn:
        """Refuse a command line; `argparse` calls this."""
        raise BadInput(message)


def _make_parser() -> _Parser:
    """Return what reads the options that Hydra has, by its names for them."""
    parser = _Parser(add_help=False)
    parser.add_argument("settings", nargs="*")
    for words in (("--help", "-h"), ("--hydra-help",), ("--version",), ("--resolve",), ("--run", "-r")):
        parser.add_argument(*words, action="store_true")
    parser.add_argument("--multirun", "-m", action="store_true")
    parser.add_argument("--cfg", "-c", choices=["job", "hydra", "all"])
    parser.add_argument("--info", "-i", choices=_INFO, const="all", nargs="?")
    parser.add_argument("--shell-completion", "-sc", action="store_true")
    for words in (("--package", "-p"), ("--config-path", "-cp"), ("--config-name", "-cn"), ("--config-dir", "-cd")):
        parser.add_argument(*words)
    parser.add_argument("--experimental-rerun")
    return parser


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command line, and its ``settings``; BadInput for what would be taken without effect.

    Examples
    --------
    >>> read_options(["paper=2", "--cfg", "job", "repeats=3"]).settings
    ['paper=2', 'repeats=3']
    >>> read_options(["-m", "dataset=car,nursery", "--dry-run"])
    Traceback (most recent call last):
    experiments.errors.BadInput: there is no option --dry-run; settings are written name=value: dry_run=...
    """
    options, unknown = _make_parser().parse_known_intermixed_args(arguments)
    if unknown:
        name = unknown[0].lstrip("-").partition("=")[0].replace("-", "_")
        raise BadInput(f"there is no option {unknown[0]}; settings are written name=value: {name}=...")
    if options.config_path:
        raise BadInput("--config-path would hide what every command needs: add to it with --config-dir")
    if options.experimental_rerun:
        raise BadInput(
            "--experimental-rerun has no record to go by: run the same command again, finished cells are kept"
        )
    if options.resolve and not (options.cfg or options.help):
        raise BadInput("--resolve goes with --cfg or --help")
    chosen = [f"--{name.replace('_', '-')}" for name in _EXCLUSIVE if getattr(options, name)]
    if len(chosen) > 1:
        raise BadInput(f"{' and '.join(chosen)} do not go together; leave out {chosen[0]}")
    if options.config_dir:
        _check_config_dir(Path(options.config_dir))
    if options.shell_completion and sys.argv[0].endswith(".py"):
        raise BadInput('shells complete installed commands only: eval "$(dp-replica -sc install=bash)"')
    if options.package and not options.cfg:
        raise BadInput("--package goes with --cfg")
    if options.settings[:1] == [_HELP]:
        options.help, options.settings = True, options.settings[1:]
    options.settings = translate_words(options.settings)
    if sum(word.startswith("do=") for word in options.settings) > 1:
        raise BadInput("one command at a time: a first word without =, or one do=NAME")
    for word in options.settings:
        _check_word(word)
    return options


def format_version() -> str:
    """Return the version of this program, and of what its results rest on most.

    Examples
    --------
    >>> [word.split()[0] for word in format_version().split(", ")]
    ['dp-replica', 'Python', 'numpy', 'scikit-learn', 'Hydra']
    """
    versions = {"dp-replica": dp_replica.__version__, "Python": platform.python_version()}
    names = {"numpy": "numpy", "scikit-learn": "scikit-learn", "Hydra": "hydra-core"}
    for name, distribution in names.items():
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(distribution)
    return ", ".join(f"{name} {number}" for name, number in versions.items())


def find_command(settings: Sequence[str]) -> str:
    """Return the command that settings name, or the one that is meant without a name.

    Examples
    --------
    >>> find_command(["do=check", "paper=2"]), find_command(["paper=2"])
    ('check', 'reproduce')
    """
    names = [word.removeprefix("do=").strip(" '\"") for word in settings if word.startswith("do=")]
    return names[-1] if names else _DEFAULT


def list_commands() -> dict[str, str]:
    """Return every command by the word that is typed, with the line that says what it does.

    Examples
    --------
    >>> list_commands()["run"]
    'Run a paper, or a sweep over settings of your own.'
    """
    files = {search_path.name_command_word(path.stem): path for path in (CONF / "do").glob("*.yaml")}
    lines = {word: _SENTENCE.search(path.read_text(encoding="utf-8")) for word, path in sorted(files.items())}
    return {word: line[1] if line else "" for word, line in lines.items()}


def format_help(command: str) -> str:
    """Return the help of a command: that of its file, with what there is to choose; BadInput if there is none.

    Examples
    --------
    >>> format_help("check").splitlines()[3]
    '  dp-replica check'
    """
    file = CONF / "do" / f"{command}.yaml"
    if not file.is_file():
        raise BadInput(f"unknown do {command!r}; {suggest_name(command, _list_options('do'))}")
    text = parse_yaml(file.read_text(encoding="utf-8"))["hydra"]["help"]["template"]
    if f"${_CHOICES}" not in text:
        return text
    if _has_other_plugins():
        from experiments.composition import start_hydra

        with start_hydra():  # which finds the folders that these add
            pass
    choices = format_choices({group: _list_options(group) for group in CHOSEN})
    commands = [line for word, said in list_commands().items() for line in hang_text(f"  {word:<11}", said)]
    return Template(text).substitute({_COMMANDS: "\n".join(commands), _CHOICES: f"{choices}\n"})


def _has_other_plugins() -> bool:
    """Return whether Hydra would load plugins of other people, which may add folders."""
    spec = util.find_spec("hydra_plugins")
    folders = map(Path, (spec and spec.submodule_search_locations) or ())
    modules = [module for folder in folders for module in folder.glob("[!_]*")]
    return not all(module.name.startswith("dp_replica_") for module in modules)


def _check_config_dir(folder: Path) -> None:
    if not folder.is_dir():
        raise BadInput(f"--config-dir: there is no folder {folder}")
    if not search_path.has_group(folder):
        groups = ", ".join(search_path.GROUPS)
        raise BadInput(f"--config-dir: {folder} has none of the folders {groups}; put NAME.yaml into one of these")


def _check_word(word: str) -> None:
    name = word.lstrip("+~").partition("=")[0]
    if "=" not in word and not word.startswith("~"):
        hint = suggest_name(word, [*_list_options("do"), *_ALIASES, _HELP])
        if hint.startswith("did you mean"):
            raise BadInput(f"there is no command {word!r}; {hint}")
        raise BadInput(f"cannot read {word!r}: write name=value (text with blanks or commas in quotes)")
    if name == "do" and not word.startswith("do="):
        raise BadInput(f"{word}: a command is chosen by its name, or by do=NAME")
    if path := _NO_PATH.match(word):
        raise BadInput(f"{path[1]}= is empty, perhaps a variable is not set: write {path[1]}=PATH, or leave it out")
    if group := _NO_OPTION.match(word):
        raise BadInput(f"{word}: write {group[1]}=NAME; where several are taken, with commas: {group[1]}=NAME,NAME")
    for refused, reason in _REFUSED.items():
        if name == refused or name.startswith(f"{refused}."):
            raise BadInput(f"{name}: {reason}")


def quote_names(settings: Sequence[str]) -> list[str]:
    """Return settings with the options of config groups, and paths, as text.

    An option is the name of a file, whatever else YAML would read in it: ``2``, ``inf``, ``1e5``. A path may have any
    character in it.

    Examples
    --------
    >>> quote_names(["paper=2", "repeats=3", "dataset=car,inf", "results=runs (1)"])
    ["paper='2'", 'repeats=3', "dataset='car','inf'", "results='runs (1)'"]
    """
    return list(map(_quote_names, settings))


def _quote_names(word: str) -> str:
    """Return a setting with the options of a config group in quotes, one or several with commas, or with a path so."""
    if path := _PATH.match(word):
        return f"{path[1]}={_quote_word(path[2])}"
    found = _OPTIONS.match(word)
    if not found:
        return word
    options = ",".join(map(_quote_word, found[2].split(",")))
    return f"{found[1]}={options}"


@contextmanager
def _exit_codes() -> Iterator[None]:
    """Turn what ends a command into its exit code, and bad input into a line on stderr."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except (BadInput, DocumentError) as error:
        print_to_stderr(f"error: {str(error).strip()}")  # the errors of a paper have a line each
        sys.exit(2)
    except YAMLError as error:
        print_to_stderr(f"error: {one_line(error)}")
        sys.exit(2)
    except BrokenPipeError:  # the reader of a stream has gone, which is no error
        raise
    except OSError as error:
        if error.errno is None:  # of a library, not of the operating system
            raise
        print_to_stderr(f"error: {describe_os_error(error)}")
        sys.exit(2)


def _list_options(group: str) -> list[str]:
    return search_path.list_choices(CONF / group)
