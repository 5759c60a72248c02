/**
 * How products and variants are stored, in their rows and in their events: their members as a list, without their names,
 * and with null for those that have their default; those at the end are left out. So they take a third of the space of
 * their representations, in the file and in all that is copied (docs/decisions/0034). Documents that were written before
 * are representations, in rows without the opening `{"id":…,`.
 */
import { createChangeBuilder } from '../events/outbox.ts';
import { parseStored, requireWhole } from '../storage/damage.ts';

/** The one place that says how a resource's members are stored: both ways, each the reverse of the other. */
interface Pair<Members, List extends readonly unknown[]> {
  listOf(members: Members): List;
  /** The members in the order in which they are shown. */
  membersOf(list: List): Members;
  /** Members at the beginning that stand on a line of their own, for SQL to find them. */
  readonly onFirstLine?: number;
}

export interface ShortForm<Members> {
  /** What is stored. */
  documentOf(members: Members): string;
  /** @throws StorageError `damaged` when what is stored cannot be read */
  membersOf(document: string): Members;
  /** The representation as JSON text. @throws StorageError `damaged` when what is stored is a list that cannot be read */
  jsonOf(id: number, document: string): string;
  /** The same, for it to be kept as the document: showing that costs nothing. @throws StorageError `damaged` */
  shown(id: number, document: string): string;
  /** A document as events have it: a list as it is, and a representation with its id. Each is a document, too. */
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

/** A row that holds a resource in one text. */
export interface StoredRow<Value> {
  readonly id: number;
  readonly document: string;
  readonly updated_at: number;
  /** The representation as a value, where it has been made already: to read the document takes longer than most else. */
  readonly value?: Value;
}

/** What is shown of such rows. @param resource what events call one of them */
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
    /** The representation as a value. */
    valueOf: ({ id, document, value }: Stored): Value => value ?? { id, ...form.membersOf(document) },
    /** The row with its document as it is shown. @throws StorageError `damaged` */
    shown: <Row extends Stored>(row: Row, known?: Stored): Row => ({
      ...row,
      document: known?.document ?? form.shown(row.id, row.document),
    }),
    /** What is recorded of a change of it. */
    buildChange: createChangeBuilder<Stored>(resource, ({ id, document }) => form.toEvent(id, document)),
    /** The row from what an event says of it, as it is shown. */
    fromEvent: (id: number, document: string): StoredRow<Value> => ({
      id,
      document: form.shown(id, document),
      updated_at: Date.parse(form.membersOf(document).updatedAt),
    }),
  };
}

/** Null for a list or an object without anything in it. */
export function toNullIfEmpty<Value extends object>(value: Value): Value | null {
  if (Array.isArray(value)) return value.length === 0 ? null : value;
  for (const _ in value) return value;
  return null;
}
