"""``python -m experiments`` or ``dp-replica``: from words to one of `experiments.commands`, and an exit code."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module, util
from itertools import takewhile
from pathlib import Path

import hydra
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import ConfigRepository
from hydra._internal.hydra import Hydra
from hydra._internal.utils import get_args_parser
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.core.object_type import ObjectType
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from hydra.plugins.config_source import ConfigSource
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from algorithms.installation import PROGRAM, lead_caches_away
from documents import search_path
from documents.document import DocumentError
from documents.variant_source import VariantSource
from experiments.catalogue.kinds import format_choices
from experiments.config.paths import CONF
from experiments.errors import BadInput, print_to_stderr, suggest_name
from experiments.processes import limit_threads, postpone_collection, resume_collection

_VERSION = "1.3"  # of Hydra's behaviour
_DEFAULT = "reproduce"
_EXCLUSIVE = ("multirun", "cfg", "info", "shell_completion")
_NO_FOLDER = "Hydra writes no folder of its own here: results=FOLDER says where everything is kept"
_NO_LAUNCHER = "launchers do not apply, as one call runs the cells of a whole grid: choose executor=local|threads|dask"
_REFUSED = {
    "hydra/sweeper": "other sweepers compose each job, a tenth of a second each: leave it out, lists of values are run",
    "hydra.sweeper.lists": "which settings may have several values belongs to the command: leave it out",
    "hydra/launcher": _NO_LAUNCHER,
    "hydra.launcher": _NO_LAUNCHER,
    "hydra.run": _NO_FOLDER,
    "hydra.sweep": _NO_FOLDER,
    "hydra.output_subdir": _NO_FOLDER,
    "hydra.job.chdir": _NO_FOLDER,
}
"""Settings of Hydra that would have no effect, and what to do instead."""

# Hydra lets nobody set what no file lists, unless a node says otherwise: an algorithm has parameters that its file does
# not list. Whether it has them is checked against its constructor.
_OPEN = DictConfig({"algorithm": DictConfig({}, flags={"struct": False})})
ConfigStore.instance().store(name="open_algorithm", node=_OPEN, provider="dp-replica")


_GROUPS = "paper|dataset|algorithm|executor|do"
_OPTIONS = re.compile(rf"^(\+*(?:{_GROUPS}))=([\w.:+-]+(?:,[\w.:+-]+)*)$")
"""A config group and options of it that are plain words: no pattern, no quotes."""
_NO_OPTION = re.compile(rf"^\+*({_GROUPS})(?:@[^=]*=|=\s*[\[{{])")
"""A config group with what is no option: in another package of the configuration, or a list or mapping in brackets."""

_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC)
_FEW = 20  #: names that an error message may have
_LISTED = ("algorithms", "datasets", "papers")
_ALIASES = {"run": _DEFAULT}
_WORDS = {"new": ("what", "name"), "describe": ("file",), "list": ("what",)}
"""Settings that a command takes as words behind its name, in order."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, treated like Ctrl-C."""


def main() -> None:
    """Run the command line and exit with its code: 0 all done, 1 some failed or skipped, 2 bad input."""
    limit_threads()
    lead_caches_away()
    postpone_collection()
    arguments: Sequence[str] = sys.argv[1:]
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then lets exceptions through instead of printing them itself
    signal.signal(signal.SIGTERM, _raise_terminated)

    def run_task(config: DictConfig) -> None:
        with _exit_codes(arguments):  # here, too, as Hydra prints lines of its own before it lets an error through
            from experiments.config.request import read_request  # pandas comes with it, which `--help` does not need

            request = read_request(config, HydraConfig.get(), arguments)
            command = import_module(f"{__package__}.commands.{request.command}")
            resume_collection()
            sys.exit(command.run_command(request))

    with _exit_codes(arguments):
        arguments = translate_words(arguments)
        check_arguments(arguments)
        search_path.use_folders(search_path.list_added())  # of the environment; Hydra looks into them, too
        sys.argv[1:] = order_for_hydra(arguments)
        if "install=bash" in arguments:
            print("COMP_WORDBREAKS=${COMP_WORDBREAKS//:}")  # or bash takes algorithm=edprf:s for two words
        with _hydra_in_short(arguments):
            hydra.main(version_base=_VERSION, config_path=str(CONF), config_name="config")(run_task)()


@contextmanager
def _hydra_in_short(arguments: Sequence[str]) -> Iterator[None]:
    """Spare Hydra two detours, each of which would take as long as all else that it does, or longer.

    It would compose everything once more to find out its mode, unless words say something of Hydra; and for a help it
    would copy all that it has read, several times for each folder of ``conf/``. What there is to choose is listed by
    kind, and not in one alphabet. Where it looks the rest looks, too; and variants are options.
    """
    find_mode, list_options, list_groups, find_sources = (
        Hydra.get_mode,
        ConfigLoaderImpl.get_group_options,
        Hydra.format_config_groups,
        ConfigRepository.initialize_sources,
    )

    def list_quickly(loader, group_name, results_filter=ObjectType.CONFIG, config_name=None, overrides=None):
        if config_name or overrides:  # these may add folders
            return list_options(loader, group_name, results_filter, config_name, overrides)
        return loader.repository.get_group_options(group_name, results_filter)

    def list_by_kind(hydra_itself, predicate, compact=True):
        if not predicate("algorithm"):  # those of Hydra
            return list_groups(hydra_itself, predicate, compact)
        loader = hydra_itself.config_loader
        groups = filter(predicate, sorted(hydra_itself.list_all_config_groups()))
        return format_choices({group: sorted(loader.get_group_options(group)) for group in groups}) + "\n"

    def add_variants(repository, config_search_path):
        find_sources(repository, config_search_path)
        search_path.use_folders(_find_added_folders(repository.sources))
        repository.sources.insert(0, VariantSource())

    if not any("hydra" in word or word.startswith(("-cn", "--config-name")) for word in arguments):
        Hydra.get_mode = lambda *_, **__: RunMode.MULTIRUN  # type: ignore[method-assign] # hydra.mode in conf/config.yaml
    ConfigLoaderImpl.get_group_options = list_quickly  # type: ignore[method-assign]
    Hydra.format_config_groups = list_by_kind  # type: ignore[method-assign]
    ConfigRepository.initialize_sources = add_variants  # type: ignore[method-assign]
    try:
        yield
    finally:
        Hydra.get_mode, ConfigLoaderImpl.get_group_options = find_mode, list_options  # type: ignore[method-assign]
        Hydra.format_config_groups = list_groups  # type: ignore[method-assign]
        ConfigRepository.initialize_sources = find_sources  # type: ignore[method-assign]


def translate_words(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command line with settings in place of the plain words that begin it: a command's name.

    Examples
    --------
    >>> translate_words(["new", "paper", "mine", "to=here"])
    ['do=new', "what='paper'", "name='mine'", 'to=here']
    >>> translate_words(["run", "paper=2"]), translate_words(["paper=2"])
    (['do=reproduce', 'paper=2'], ['paper=2'])
    >>> translate_words(["describe", "metric=rmse"])
    ['do=describe', 'metrics=rmse']
    """
    arguments = [re.sub("^metric=", "metrics=", word) for word in arguments]
    if arguments[:1] in (["--config-dir"], ["-cd"]):  # whose folder is no command
        return [*arguments[:2], *translate_words(arguments[2:])]
    plain = list(takewhile(_is_plain, arguments))
    command = _ALIASES.get(plain[0], plain[0]) if plain else ""
    if command not in _list_options("do"):
        return list(arguments)
    words, names = plain[1:], _WORDS.get(command, ())
    if len(words) > len(names):
        raise BadInput(f"{plain[0]} does not take the word {words[len(names)]!r}: write name=value")
    settings = [f"{name}={_quote_word(word)}" for name, word in zip(names, words, strict=False)]
    return [f"do={command}", *settings, *arguments[len(plain) :]]


def _is_plain(word: str) -> bool:
    return "=" not in word and not word.startswith(("-", "+", "~"))


def _quote_word(word: str) -> str:
    """Return a word as Hydra reads text: in quotes, those in it and backslashes before them escaped."""
    return "'" + re.sub(r"(\\*)'", r"\1\1\'", word) + "'"


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuse, with the way out, what Hydra would not understand, or would take without effect.

    Examples
    --------
    >>> check_arguments(["-m", "dataset=car,nursery", "--dry-run"])
    Traceback (most recent call last):
    experiments.errors.BadInput: there is no option --dry-run; settings are written name=value: dry_run=...
    """
    options, unknown = get_args_parser().parse_known_intermixed_args(arguments)
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
    if sum(word.startswith("do=") for word in options.overrides) > 1:
        raise BadInput("one command at a time: a first word without =, or one do=NAME")
    for word in options.overrides:
        _check_word(word)


def _check_config_dir(folder: Path) -> None:
    if folder.is_dir() and not _has_group(folder):
        groups = ", ".join(search_path.GROUPS)
        raise BadInput(f"--config-dir: {folder} has none of the folders {groups}; put NAME.yaml into one of these")


def _has_group(folder: Path) -> bool:
    return any((folder / group).is_dir() for group in search_path.GROUPS)


def _find_added_folders(sources: Iterable[ConfigSource]) -> list[Path]:
    """Return the folders, beside ``conf/``, where Hydra looks: of the environment, of plugins, of the user."""
    folders: list[Path] = []
    for source in sources:
        if source.scheme() == "file":
            folders.append(Path(source.path))
        elif source.scheme() == "pkg" and source.provider != "hydra":
            spec = util.find_spec(source.path)
            folders += map(Path, (spec and spec.submodule_search_locations) or ())
    return [folder for folder in folders if _has_group(folder) and not folder.samefile(CONF)]


def _check_word(word: str) -> None:
    name = word.lstrip("+~").partition("=")[0]
    if group := _NO_OPTION.match(word):
        raise BadInput(f"{word}: write {group[1]}=NAME; where several are taken, with commas: {group[1]}=NAME,NAME")
    for refused, reason in _REFUSED.items():
        if name == refused or name.startswith(f"{refused}."):
            raise BadInput(f"{name}: {reason}")


def order_for_hydra(arguments: Sequence[str]) -> list[str]:
    """Return the words with options first, behind which Hydra's parser reads settings, and group options as text.

    An option is the name of a file, whatever else YAML would read in it: ``2``, ``inf``, ``1e5``.

    Examples
    --------
    >>> order_for_hydra(["paper=2", "--cfg", "job", "repeats=3", "dataset=car,inf"])
    ['--cfg', 'job', "paper='2'", 'repeats=3', "dataset='car','inf'"]
    """
    return sorted(map(_quote_options, arguments), key=lambda word: "=" in word and not word.startswith("-"))


def _quote_options(word: str) -> str:
    """Return a setting with the options of a config group in quotes, one or several with commas."""
    found = _OPTIONS.match(word)
    if not found:
        return word
    options = ",".join(map(_quote_word, found[2].split(",")))
    return f"{found[1]}={options}"


@contextmanager
def _exit_codes(arguments: Sequence[str]) -> Iterator[None]:
    """Turn what ends a command into its exit code, and bad input into a line on stderr."""
    try:
        yield
    except KeyboardInterrupt as error:
        print_to_stderr("everything finished so far is kept; run the same command again to go on")
        sys.exit(143 if isinstance(error, Terminated) else 130)
    except BrokenPipeError:  # the reader of stdout has gone, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (BadInput, DocumentError, HydraException, OmegaConfBaseException, YAMLError) as error:
        print_to_stderr(f"error: {explain_error(error, arguments)}")
        sys.exit(2)
    except OSError as error:
        if error.errno not in _UNWRITABLE or error.filename is None:
            raise
        hint = "make it writable, or choose another folder with results=FOLDER"
        print_to_stderr(f"error: {error.filename} cannot be written ({error.strerror}); {hint}")
        sys.exit(2)


def explain_error(error: Exception, arguments: Sequence[str] = ()) -> str:
    """Return what is wrong with a command line, in one line and in our words.

    Examples
    --------
    >>> explain_error(MissingConfigException("...", "dataset/aduld", ["adult", "car"]))
    "unknown dataset 'aduld'; did you mean 'adult'?"
    """
    text = " ".join(str(error).split())
    if isinstance(error, BadInput | DocumentError):
        return str(error).strip()  # the errors of a paper have a line each
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and "/" in error.missing_cfg_file:
        group, _, name = error.missing_cfg_file.rpartition("/")
        return f"unknown {group} {name!r}; {_suggest_option(group, name, error.options or _list_options(group))}"
    if isinstance(error, OverrideParseException):
        return f"cannot read {error.override!r}: write name=value (text with blanks or commas in quotes)"
    if refused := re.match(r"Could not override '([^']+)'", text):
        command = chosen_command(arguments)
        return (
            f"do={command} has nothing called {refused[1]!r} to set; {suggest_name(refused[1], list_settings(command))}"
        )
    if several := re.match(r"(?:Ambiguous value for argument|Sweep parameters) '([^']+)'", text):
        return f"{several[1]}: --cfg, --help, --info and hydra.mode=RUN are about one setting; give one value"
    return text or " ".join(str(error.__cause__).split())


def _suggest_option(group: str, name: str, options: Sequence[str]) -> str:
    """Return the nearest option of a config group; of many that are far the command that lists them."""
    hint = suggest_name(name, options)
    is_long = len(options) > _FEW and hint.startswith("known are")
    return f"`{PROGRAM} list {group}s` says what there is" if is_long and f"{group}s" in _LISTED else hint


def chosen_command(arguments: Sequence[str]) -> str:
    """Return the command that a command line names, or the one that is meant without a name.

    Examples
    --------
    >>> chosen_command(["do=check", "paper=2"]), chosen_command(["paper=2"])
    ('check', 'reproduce')
    """
    names = [word.removeprefix("do=") for word in arguments if word.startswith("do=")]
    return names[-1] if names else _DEFAULT


def list_settings(command: str) -> list[str]:
    """Return the names of what can be set of a command.

    Examples
    --------
    >>> list_settings("verify")
    ['do', 'most_repeats', 'paper', 'repeats']
    """
    from experiments.config.request import DESCRIBED  # with pandas: only a command line that is wrong gets here

    with hydra.initialize_config_dir(str(CONF), version_base=_VERSION):
        config = hydra.compose("config", overrides=[f"do={command}"], return_hydra_config=True)
    names = [name for name in config.hydra.runtime.choices if not name.startswith("hydra/")]
    for name, value in config.items():
        if isinstance(value, DictConfig) and name not in ("hydra", *DESCRIBED):
            names += [f"{name!s}.{part!s}" for part in value]
        elif not isinstance(value, DictConfig):
            names.append(name)
    return sorted(set(names))


def _list_options(group: str) -> list[str]:
    return search_path.list_choices(CONF / group)


def _raise_terminated(*_: object) -> None:
    raise Terminated
