/**
 * How products and variants are stored, in their rows and in their events: their members as a list, without their names,
 * and with null for those that have their default; those at the end are left out. So they take a third of the space of
 * their representations, in the file and in all that is copied (docs/decisions/0034). Documents that were written before
 * are representations, in rows without the opening `{"id":…,`.
 */
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

export function shortForm<Members extends object, List extends readonly unknown[]>({
  listOf,
  membersOf,
  onFirstLine = 0,
}: Pair<Members, List>): ShortForm<Members> {
  const read = (document: string): Members =>
    isList(document)
      ? membersOf(parseStored<List>(document))
      : parseStored<Members>(isWhole(document) ? document : `{${document}`);
  const jsonOf = (id: number, document: string): string => {
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
    jsonOf,
    shown: (id, document) => (isList(document) ? jsonOf(id, document) : requireWhole(jsonOf(id, document))),
    toEvent: (id, document) => (isList(document) ? document : jsonOf(id, document)),
  };
}

/** Null for a list or an object without anything in it. */
export function unlessEmpty<Value extends object>(value: Value): Value | null {
  if (Array.isArray(value)) return value.length === 0 ? null : value;
  for (const _ in value) return value;
  return null;
}
