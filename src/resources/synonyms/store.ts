/** The queries of synonyms, and an in-memory index of them for searches. */
import type { Outbox } from '../../events/outbox.ts';
import type { Collection } from '../../storage/changes/change.ts';
import { createFollowedValue } from '../../storage/changes/value.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database } from '../../storage/database.ts';
import { splitWords } from '../../storage/search/text/split.ts';
import type { Stems } from '../../storage/search/text/stems.ts';
import { mapInSlices } from '../../turns/slices.ts';
import { createDocumentRows, type StoredDocument, toDocumentJson } from '../crud/documents.ts';
import type { Synonym, SynonymFields } from './schema.ts';

/** Alternatives to some words: lists of words. */
type Others = readonly (readonly string[])[];

export interface Synonyms {
  readonly size: number;
  /** The alternatives to this sequence of words. */
  get(words: readonly string[]): Others;
  /** The alternatives to words that have these as inflected forms. */
  getByForms(words: readonly string[]): Others;
}

export const noSynonyms: Synonyms = { size: 0, get: () => [], getByForms: () => [] };

/** The maximum number of alternatives to the same words. */
export const maxSynonyms = 20;

export type SynonymStore = ReturnType<typeof createSynonymStore>;

/** A change of any group drops the whole cache: there are few, and they seldom change. */
export const synonymCollection: Collection = { name: 'synonyms' };

export const toSynonym = (row: StoredDocument): Synonym => parseStored<Synonym>(toDocumentJson(row));

/** Maps each member of a group, as written and by its stems, to the other members of its groups. Works in slices. */
async function indexByWords(
  groups: readonly StoredDocument[],
  stems: Pick<Stems, 'keysOf'>,
): Promise<Synonyms> {
  const [byWords, byForms] = [new Map<string, string[][]>(), new Map<string, string[][]>()];
  const add = (index: Map<string, string[][]>, key: string, others: readonly string[][]) => {
    const known = index.getOrInsertComputed(key, () => []);
    for (const other of others) if (known.length < maxSynonyms) known.push(other);
  };
  await mapInSlices(groups, group => {
    const { words } = toSynonym(group);
    const members = words.map(word => splitWords(word)).filter(member => member.length > 0);
    for (const member of members) {
      const key = member.join(' ');
      const others = members.filter(other => other.join(' ') !== key);
      add(byWords, key, others);
      for (const form of stems.keysOf(member)) add(byForms, form, others);
    }
  });
  return {
    size: byWords.size,
    get: words => byWords.get(words.join(' ')) ?? [],
    getByForms: words => [...new Set(stems.keysOf(words).flatMap(key => byForms.get(key) ?? []))],
  };
}

export function createSynonymStore(database: Database, outbox: Outbox, stems: Pick<Stems, 'keysOf'>) {
  const { all, ...rows } = createDocumentRows<SynonymFields>(database, outbox, {
    table: 'search_synonyms',
    collection: synonymCollection,
    resource: 'synonym',
    columns: [],
    columnsOf: () => ({}),
  });
  const value = createFollowedValue(database.changes, synonymCollection, async () =>
    indexByWords(await database.snapshot(all), stems),
  );

  return {
    ...rows,
    /** All synonyms as of the last check for changes. */
    current: async () => value.peek() ?? value.current(),
  };
}
