/**
 * How products and variants are stored, in their rows and in their events: their members as a list, without their names,
 * and with null for those that have their default; those at the end are left out. So they take a third of the space of
 * their representations, in the file and in all that is copied (docs/decisions/0034). Documents that were written before
 * are representations as they are shown, without the opening `{"id":…,`.
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
  /** A document as it is shown, so that showing it again costs nothing. @throws StorageError `damaged` */
  shown(id: number, document: string): string;
  /** A document as events have it: a list as it is, and a representation with its id. */
  toEvent(id: number, document: string): string;
  /** A document as rows have it. */
  fromEvent(id: number, document: string): string;
}

const isList = (document: string): boolean => document.startsWith('[');
const beginning = (id: number) => `{"id":${id},`;

export function shortForm<Members extends object, List extends readonly unknown[]>({
  listOf,
  membersOf,
  onFirstLine = 0,
}: Pair<Members, List>): ShortForm<Members> {
  const read = (document: string): Members =>
    isList(document) ? membersOf(parseStored<List>(document)) : parseStored<Members>(`{${document}`);
  const jsonOf = (id: number, document: string): string =>
    beginning(id) + (isList(document) ? JSON.stringify(read(document)).slice(1) : document);
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
    shown(id, document) {
      const json = jsonOf(id, document);
      return (isList(document) ? json : requireWhole(json)).slice(beginning(id).length);
    },
    toEvent: (id, document) => (isList(document) ? document : jsonOf(id, document)),
    fromEvent: (id, document) => (isList(document) ? document : document.slice(beginning(id).length)),
  };
}

/** Null for a list or an object without anything in it. */
export function unlessEmpty<Value extends object>(value: Value): Value | null {
  for (const _ in value) return value;
  return null;
}
