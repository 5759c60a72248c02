/** The queries of synonyms, and all of them as searches need them. */
import { sql } from 'kysely';
import type { Cause, Outbox } from '../../events/outbox.ts';
import type { Collection } from '../../storage/changes/change.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { type Lister, lister } from '../../storage/list/index.ts';
import { momentOfChange } from '../../storage/moments.ts';
import { wordsOf } from '../../storage/search/text/split.ts';
import type { Synonym, SynonymFields } from './schema.ts';

export interface StoredSynonym {
  readonly id: number;
  /** The representation as JSON text, without the opening `{"id":…,`. */
  readonly document: string;
  readonly updated_at: number;
}

/** What stands for a word or for several together, which are its key with spaces between: lists of words. */
export type Synonyms = ReadonlyMap<string, readonly (readonly string[])[]>;

export interface SynonymStore {
  readonly list: Lister<StoredSynonym>;
  find(session: Session, id: number): Promise<StoredSynonym | undefined>;
  /** The same, keeping others from changing it until the transaction ends. */
  lock(session: Session, id: number): Promise<StoredSynonym | undefined>;
  count(session: Session): Promise<number>;
  /** All of them as they were at the last look at what has changed, which is now. */
  current(): Promise<Synonyms>;
  insert(session: Transaction, fields: SynonymFields, cause: Cause): Promise<StoredSynonym>;
  /** Writes new words over a group that is locked. */
  update(
    session: Transaction,
    before: StoredSynonym,
    fields: SynonymFields,
    cause: Cause,
  ): Promise<StoredSynonym>;
  remove(session: Transaction, before: StoredSynonym, cause: Cause): Promise<void>;
}

/** Any change of one ends all that is cached: they are few, and seldom changed. */
export const synonymCollection: Collection = { name: 'synonyms' };

export const synonymJson = ({ id, document }: Pick<StoredSynonym, 'id' | 'document'>): string =>
  `{"id":${id},${document}`;
export const synonymOf = (row: StoredSynonym): Synonym => parseStored<Synonym>(synonymJson(row));

const columns = ['id', 'document', 'updated_at'] as const;

function rowOf({ words }: SynonymFields, createdAt: number, now: number) {
  const dates = { createdAt: new Date(createdAt).toISOString(), updatedAt: new Date(now).toISOString() };
  return { created_at: createdAt, updated_at: now, document: JSON.stringify({ words, ...dates }).slice(1) };
}

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
  const { build, changes, dialect } = database;
  const byId = (id: number) => build.selectFrom('search_synonyms').select(columns).where('id', '=', id);
  const allRows = build.selectFrom('search_synonyms').select(columns).orderBy('id').compile();
  let known: Promise<Synonyms> | undefined;
  changes.follow(synonymCollection, () => {
    known = undefined;
  });
  const read = async () => byWord((await database.read.all(allRows)).map(synonymOf));

  const record = (
    session: Transaction,
    action: string,
    before: StoredSynonym | undefined,
    after: StoredSynonym | undefined,
    cause: Cause,
  ) =>
    outbox.record(
      session,
      {
        resource: 'synonym',
        resourceId: (after ?? before)?.id ?? 0,
        action,
        before: before === undefined ? null : synonymJson(before),
        after: after === undefined ? null : synonymJson(after),
      },
      cause,
    );

  return {
    list: lister<StoredSynonym>(database, {
      table: 'search_synonyms',
      columns: ['document', 'updated_at'],
      collection: synonymCollection,
    }),
    find: (session, id) => session.first(byId(id).compile()),
    lock: (session, id) => session.first(byId(id).modifyEnd(dialect.forUpdate).compile()),
    async count(session) {
      const total = sql<number>`cast(count(*) as integer)`.as('total');
      return (await session.first(build.selectFrom('search_synonyms').select(total).compile()))?.total ?? 0;
    },
    async current() {
      await changes.look();
      const mine = known ?? read();
      known = mine;
      try {
        return await mine;
      } catch (error) {
        if (known === mine) known = undefined;
        throw error;
      }
    },
    async insert(session, fields, cause) {
      const row = rowOf(fields, cause.at, cause.at);
      const id = await session.insert(build.insertInto('search_synonyms').values(row).compile());
      const stored = { id, document: row.document, updated_at: row.updated_at };
      await record(session, 'created', undefined, stored, cause);
      return stored;
    },
    async update(session, before, fields, cause) {
      const at = momentOfChange(cause.at, before.updated_at);
      const row = rowOf(fields, Date.parse(synonymOf(before).createdAt), at);
      await session.run(build.updateTable('search_synonyms').set(row).where('id', '=', before.id).compile());
      const stored = { id: before.id, document: row.document, updated_at: at };
      await record(session, 'updated', before, stored, cause);
      return stored;
    },
    async remove(session, before, cause) {
      await session.run(build.deleteFrom('search_synonyms').where('id', '=', before.id).compile());
      await record(session, 'deleted', before, undefined, cause);
    },
  };
}
