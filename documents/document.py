"""Documents: frozen values that are read from YAML files and refuse what they do not know.

A paper and all of its parts are documents. Their fields are the keys that a YAML file may have; the text below each
field is its documentation, in the JSON Schema that editors read and in the reference of all keys. These texts are read
when somebody asks for them: to parse the source of every document takes longer than to read a paper.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError

from algorithms.parameters import suggest_name
from documents.yaml_files import DocumentError, Location, find_lines, name_place


class Document(BaseModel):
    """A part of a YAML file whose keys are known."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)

    @model_validator(mode="wrap")
    @classmethod
    def _explain_errors(cls, data, handler):
        """Say of a key that is not known which one is nearest, and of a wrong value what it is."""
        try:
            return handler(data)
        except ValidationError as error:
            explained = list(map(partial(_explain, cls), error.errors(include_url=False)))
            raise ValidationError.from_exception_data(cls.__name__, explained) from None

    @classmethod
    def describe_keys(cls) -> dict[str, str]:
        """Return the text below each field, by the field's name; nothing of a field without one.

        Examples
        --------
        >>> Named.describe_keys()
        {'id': "The name that the paper's other parts, and the files made of this one, call it by."}
        """
        texts: dict[str, str] = {}
        for kind in reversed(cls.__mro__):  # what a subclass says of a key counts, even if that is nothing
            if issubclass(kind, Document):
                texts |= _read_texts_below_fields(kind)
        return {name: texts[name] for name in cls.model_fields if texts.get(name)}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> JsonSchemaValue:
        """Return the JSON Schema with the texts below the fields."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema)["properties"]
        for name, text in cls.describe_keys().items():
            if name in properties:
                properties[name]["description"] = text
        return schema

    def replaced(self, **values: Any) -> Self:
        """Return the document with other values, which are checked like those of a file.

        Examples
        --------
        >>> Named(id="a").replaced(id="b")
        Named(id='b')
        """
        return parse_document(type(self), {name: getattr(self, name) for name in self.model_fields_set} | values)

    def without(self, *names: str) -> Self:
        """Return the document without some keys.

        Examples
        --------
        >>> Named(id="a").without("title")
        Named(id='a')
        """
        kept = {name: getattr(self, name) for name in self.model_fields_set if name not in names}
        return parse_document(type(self), kept)


class Named(Document):
    """A part of a paper that others refer to."""

    id: str
    """The name that the paper's other parts, and the files made of this one, call it by."""


DocumentType = TypeVar("DocumentType", bound=Document)


def parse_document(
    kind: type[DocumentType], contents: Any, file: Path | None = None, place: Location = ()
) -> DocumentType:
    """Return a document made of the contents of a file.

    Parameters
    ----------
    kind : type
        The document's class.
    contents : mapping
        What the file says.
    file : Path, optional
        The file: errors then name its lines.
    place : tuple, optional
        Where the contents stand in what somebody gave, as errors name it.

    Raises
    ------
    DocumentError
        If a key is missing, unknown or has a wrong value; all such errors are reported at once.

    Examples
    --------
    >>> parse_document(Named, {"id": "table-1"})
    Named(id='table-1')
    >>> parse_document(Named, {"idd": "table-1"})
    Traceback (most recent call last):
    ...
    documents.yaml_files.DocumentError: 2 errors:
      the key 'id' is missing
      unknown key 'idd'; did you mean 'id'?
    """
    try:
        return kind.model_validate(contents)
    except ValidationError as error:
        lines = find_lines(file) if file else {}
        raise DocumentError(_report(error, lines, file, place)) from None


@cache
def _read_texts_below_fields(kind: type[Document]) -> dict[str, str]:
    """Return the text below each field that a class itself declares, empty where there is none."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    statements = getattr(definition, "body", [])
    texts: dict[str, str] = {}
    for statement, below in zip_longest(statements, statements[1:]):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=field)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[field] = inspect.cleandoc(text)
            case ast.AnnAssign(target=ast.Name(id=field)), _:
                texts[field] = ""
    return texts


def _report(error: ValidationError, lines: Mapping[Location, int], file: Path | None, place: Location) -> str:
    reports = []
    for details in error.errors(include_url=False):
        location = (*place, *details["loc"])
        named = name_place(location, lines, file)
        if details["type"] in _ABOUT_THE_KEY:  # the message names the key
            named = named.removesuffix(str(location[-1])).rstrip(".: ")
        message = details["msg"].removeprefix("Value error, ")
        reports.append(f"{named}: {message}" if named else message)
    if len(reports) == 1:
        return reports[0]
    return "\n  ".join([f"{len(reports)} errors:", *reports])


_ABOUT_THE_KEY = ("unknown_key", "missing_key")
_IN_WORDS_OF_YAML = {"tuple_type": "write a list", "dict_type": "write a mapping of keys to values"}


def _explain(kind: type[Document], details: Any) -> InitErrorDetails:
    """Return one of pydantic's errors in our words; those of the parts of a document are in our words already."""
    location, message, name = details["loc"], details["msg"], details["type"]
    if len(location) == 1 and name == "extra_forbidden":
        keys = [field for field, info in kind.model_fields.items() if not info.exclude]
        name, message = "unknown_key", f"unknown key {str(location[0])!r}; {suggest_name(str(location[0]), keys)}"
    elif name == "missing":
        name, message = "missing_key", f"the key {location[-1]!r} is missing"
    elif name not in ("unknown_key", "missing_key", "wrong_value", "value_error"):
        expected = _IN_WORDS_OF_YAML.get(name, f"{message[0].lower()}{message[1:]}")
        message = f"{expected}, got {repr(details['input'])[:80]}"
        name = "wrong_value"
    # without a context, pydantic takes braces in the message as they are
    return InitErrorDetails(type=PydanticCustomError(name, message), loc=location, input=details["input"])


def _as_tuple(value):
    return tuple(value) if isinstance(value, list) else value


def _as_several(value):
    return _as_tuple(value) if isinstance(value, list | tuple) else (value,)


Item = TypeVar("Item")
ListOf = Annotated[tuple[Item, ...], BeforeValidator(_as_tuple)]
"""A list in YAML."""


class _SchemaOfOneOrMore:
    """Tells editors that a single value is as good as a list."""

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        return {"anyOf": [schema["items"], schema]}


OneOrMore = Annotated[tuple[Item, ...], BeforeValidator(_as_several), _SchemaOfOneOrMore()]
"""A list in YAML, or a single value that stands for a list of one."""

Scalar = None | bool | int | float | str
"""A value that YAML writes in one word."""
