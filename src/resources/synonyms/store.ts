/** The queries of synonyms, and all of them as searches need them. */
import type { Outbox } from '../../events/outbox.ts';
import type { Collection } from '../../storage/changes/change.ts';
import { createFollowedValue } from '../../storage/changes/value.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database } from '../../storage/database.ts';
import { splitWords } from '../../storage/search/text/split.ts';
import {
  createDocumentRows,
  type DocumentRows,
  type StoredDocument,
  toDocumentJson,
} from '../crud/documents.ts';
import type { Synonym, SynonymFields } from './schema.ts';

/** What stands for a word or for several together, which are its key with spaces between: lists of words. */
export type Synonyms = ReadonlyMap<string, readonly (readonly string[])[]>;

export interface SynonymStore extends Omit<DocumentRows<SynonymFields>, 'all'> {
  /** All of them as they were at the last check for changes. */
  current(): Promise<Synonyms>;
}

/** Any change of one ends all that is cached: they are few, and seldom changed. */
export const synonymCollection: Collection = { name: 'synonyms' };

export const toSynonym = (row: StoredDocument): Synonym => parseStored<Synonym>(toDocumentJson(row));

/** Each member of a group with the others of all groups that it is in. */
function indexByWord(groups: readonly Synonym[]): Synonyms {
  const synonyms = new Map<string, string[][]>();
  for (const { words } of groups) {
    const members = words.map(word => splitWords(word)).filter(member => member.length > 0);
    for (const member of members) {
      const key = member.join(' ');
      const others = members.filter(other => other.join(' ') !== key);
      synonyms.set(key, [...(synonyms.get(key) ?? []), ...others]);
    }
  }
  return synonyms;
}

export function createSynonymStore(database: Database, outbox: Outbox): SynonymStore {
  const { all, ...rows } = createDocumentRows<SynonymFields>(database, outbox, {
    table: 'search_synonyms',
    collection: synonymCollection,
    resource: 'synonym',
    columns: [],
    columnsOf: () => ({}),
  });
  const value = createFollowedValue(database.changes, synonymCollection, async () =>
    indexByWord((await all(database.read)).map(toSynonym)),
  );

  return { ...rows, current: async () => value.peek() ?? value.current() };
}
