/** The queries of synonyms, and all of them as searches need them. */
import type { Outbox } from '../../events/outbox.ts';
import type { Collection } from '../../storage/changes/change.ts';
import { followedValue } from '../../storage/changes/value.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database } from '../../storage/database.ts';
import { wordsOf } from '../../storage/search/text/split.ts';
import { type DocumentRows, documentJson, documentRows, type StoredDocument } from '../crud/documents.ts';
import type { Synonym, SynonymFields } from './schema.ts';

/** What stands for a word or for several together, which are its key with spaces between: lists of words. */
export type Synonyms = ReadonlyMap<string, readonly (readonly string[])[]>;

export interface SynonymStore extends Omit<DocumentRows<SynonymFields>, 'all'> {
  /** All of them as they were at the last check for changes. */
  current(): Promise<Synonyms>;
}

/** Any change of one ends all that is cached: they are few, and seldom changed. */
export const synonymCollection: Collection = { name: 'synonyms' };

export const synonymOf = (row: StoredDocument): Synonym => parseStored<Synonym>(documentJson(row));

/** Each member of a group with the others of all groups that it is in. */
function byWord(groups: readonly Synonym[]): Synonyms {
  const synonyms = new Map<string, string[][]>();
  for (const { words } of groups) {
    const members = words.map(word => wordsOf(word)).filter(member => member.length > 0);
    for (const member of members) {
      const key = member.join(' ');
      const others = members.filter(other => other.join(' ') !== key);
      synonyms.set(key, [...(synonyms.get(key) ?? []), ...others]);
    }
  }
  return synonyms;
}

export function synonymStore(database: Database, outbox: Outbox): SynonymStore {
  const { all, ...rows } = documentRows<SynonymFields>(database, outbox, {
    table: 'search_synonyms',
    collection: synonymCollection,
    resource: 'synonym',
    columns: [],
    columnsOf: () => ({}),
  });
  const value = followedValue(database.changes, synonymCollection, async () =>
    byWord((await all(database.read)).map(synonymOf)),
  );

  return { ...rows, current: async () => value.peek() ?? value.current() };
}
