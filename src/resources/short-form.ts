/**
 * The stored form of products and variants, in their rows and events: a list of the members without names. Members with
 * their default value are null; trailing ones are omitted. A list takes a third of the space of the representation, in
 * the file and wherever it is copied (docs/decisions/0034). Documents of earlier releases are representations; those in
 * rows lack the opening `{"id":…,`.
 */
import { createChangeBuilder } from '../events/outbox.ts';
import { parseStored, requireWhole } from '../storage/damage.ts';

/** The mapping between a resource's members and their stored form; the two functions must be inverses. */
interface Pair<Members, List extends readonly unknown[]> {
  listOf(members: Members): List;
  /** The members, in the order of the representation. */
  membersOf(list: List): Members;
  /** The number of leading members stored on a separate line, where SQL can find them. */
  readonly onFirstLine?: number;
}

export interface ShortForm<Members> {
  documentOf(members: Members): string;
  /** @throws StorageError `damaged` if the document cannot be read */
  membersOf(document: string): Members;
  /** The representation as JSON text. @throws StorageError `damaged` if the document is a list that cannot be read */
  jsonOf(id: number, document: string): string;
  /** The same, for use as a document in memory that needs no conversion. @throws StorageError `damaged` */
  shown(id: number, document: string): string;
  /** A document for events: a list unchanged, a representation with its id. Both are documents too. */
  toEvent(id: number, document: string): string;
}

const isList = (document: string): boolean => document.startsWith('[');
const isWhole = (document: string): boolean => document.startsWith('{');

export function createShortForm<Members extends object, List extends readonly unknown[]>({
  listOf,
  membersOf,
  onFirstLine = 0,
}: Pair<Members, List>): ShortForm<Members> {
  const read = (document: string): Members =>
    isList(document)
      ? membersOf(parseStored<List>(document))
      : parseStored<Members>(isWhole(document) ? document : `{${document}`);
  const toJson = (id: number, document: string): string => {
    if (isWhole(document)) return document;
    return `{"id":${id},${isList(document) ? JSON.stringify(read(document)).slice(1) : document}`;
  };
  return {
    documentOf(members) {
      const list = listOf(members);
      let { length } = list;
      while (length > onFirstLine && list[length - 1] === null) length--;
      const rest = JSON.stringify(list.slice(onFirstLine, length));
      if (onFirstLine === 0) return rest;
      return `${JSON.stringify(list.slice(0, onFirstLine)).slice(0, -1)},\n${rest.slice(1)}`;
    },
    membersOf: read,
    jsonOf: toJson,
    shown: (id, document) => (isList(document) ? toJson(id, document) : requireWhole(toJson(id, document))),
    toEvent: (id, document) => (isList(document) ? document : toJson(id, document)),
  };
}

/** A row that holds a whole resource in one text. */
export interface StoredRow<Value> {
  readonly id: number;
  readonly document: string;
  readonly updated_at: number;
  /** The representation as a value, if already available: parsing the document is comparatively slow. */
  readonly value?: Value;
}

/** Conversions of such rows. @param resource the resource name in events */
export function createShownRows<Members extends { readonly updatedAt: string }>(
  resource: string,
  form: ShortForm<Members>,
) {
  type Value = Members & { readonly id: number };
  type Stored = Pick<StoredRow<Value>, 'id' | 'document' | 'value'>;
  return {
    /** The representation as JSON text. */
    jsonOf: ({ id, document, value }: Stored): string =>
      value === undefined ? form.jsonOf(id, document) : JSON.stringify(value),
    valueOf: ({ id, document, value }: Stored): Value => value ?? { id, ...form.membersOf(document) },
    /** The row with its representation as the document. @throws StorageError `damaged` */
    shown: <Row extends Stored>(row: Row, known?: Stored): Row => ({
      ...row,
      document: known?.document ?? form.shown(row.id, row.document),
    }),
    buildChange: createChangeBuilder<Stored>(resource, ({ id, document }) => form.toEvent(id, document)),
    /** The row from the document of an event, with its representation as the document. */
    fromEvent: (id: number, document: string): StoredRow<Value> => ({
      id,
      document: form.shown(id, document),
      updated_at: Date.parse(form.membersOf(document).updatedAt),
    }),
  };
}

/** Null for an empty list or object. */
export function toNullIfEmpty<Value extends object>(value: Value): Value | null {
  if (Array.isArray(value)) return value.length === 0 ? null : value;
  for (const _ in value) return value;
  return null;
}
