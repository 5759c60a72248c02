/** The queries of attributes' definitions, and all of them as they were at the last look at what has changed. */
import { sql } from 'kysely';
import type { Cause, Outbox } from '../../events/outbox.ts';
import { renamedPath } from '../../storage/categories/names.ts';
import type { Collection } from '../../storage/changes/change.ts';
import { versionOf } from '../../storage/changes/versions.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { type Lister, lister } from '../../storage/list/index.ts';
import { momentOfChange } from '../../storage/moments.ts';
import type { Definition, DefinitionFields } from './schema.ts';

export interface StoredDefinition {
  readonly id: number;
  /** The representation as JSON text, without the opening `{"id":…,`. */
  readonly document: string;
  readonly updated_at: number;
}

/** Definitions by their keys. */
export type Definitions = ReadonlyMap<string, Definition>;

export interface DefinitionStore {
  readonly list: Lister<StoredDefinition>;
  find(session: Session, id: number): Promise<StoredDefinition | undefined>;
  /** The same, keeping others from changing it until the transaction ends. */
  lock(session: Session, id: number): Promise<StoredDefinition | undefined>;
  count(session: Session): Promise<number>;
  /** All of them as the session sees them. */
  seenBy(session: Session): Promise<Definitions>;
  /** All of them as they were at the last look at what has changed, which is now. */
  current(): Promise<Definitions>;
  /** @throws StorageError `unique` when the key is defined already */
  insert(session: Transaction, fields: DefinitionFields, cause: Cause): Promise<StoredDefinition>;
  /** Writes new fields over a definition that is locked. */
  update(
    session: Transaction,
    before: StoredDefinition,
    fields: DefinitionFields,
    cause: Cause,
  ): Promise<StoredDefinition>;
  remove(session: Transaction, before: StoredDefinition, cause: Cause): Promise<void>;
  /** Gives definitions that name a category, or one below it, the path that it has now. */
  renameCategory(session: Transaction, former: string, path: string, cause: Cause): Promise<void>;
}

/** Any change of one ends all that is cached: they are few, and seldom changed. */
export const attributeDefinitions: Collection = { name: 'attributes' };

export const definitionJson = ({ id, document }: Pick<StoredDefinition, 'id' | 'document'>): string =>
  `{"id":${id},${document}`;

export const definitionOf = (row: StoredDefinition): Definition =>
  parseStored<Definition>(definitionJson(row));

const columns = ['id', 'document', 'updated_at'] as const;

function rowOf(fields: DefinitionFields, createdAt: number, now: number) {
  const dates = { createdAt: new Date(createdAt).toISOString(), updatedAt: new Date(now).toISOString() };
  const { key, label, type } = fields;
  const document = JSON.stringify({ ...fields, ...dates }).slice(1);
  return { key, label, type, created_at: createdAt, updated_at: now, document };
}

export function definitionStore(database: Database, outbox: Outbox): DefinitionStore {
  const { build, changes, dialect } = database;
  const byId = (id: number) => build.selectFrom('attributes').select(columns).where('id', '=', id);
  const allRows = build.selectFrom('attributes').select(columns).compile();
  const versionQuery = sql<{
    version: number;
  }>`select ${versionOf(dialect, attributeDefinitions.name)} as version`;
  const version = versionQuery.compile(build);
  let known: Definitions | undefined;
  let reading: Promise<Definitions> | undefined;
  changes.follow(attributeDefinitions, () => {
    known = undefined;
    reading = undefined;
  });

  async function all(session: Session): Promise<Definitions> {
    const rows = await session.all(allRows);
    return new Map(rows.map(row => definitionOf(row)).map(found => [found.key, found]));
  }

  const record = (
    session: Transaction,
    action: string,
    before: StoredDefinition | undefined,
    after: StoredDefinition | undefined,
    cause: Cause,
  ) =>
    outbox.record(
      session,
      {
        resource: 'attribute',
        resourceId: (after ?? before)?.id ?? 0,
        action,
        before: before === undefined ? null : definitionJson(before),
        after: after === undefined ? null : definitionJson(after),
      },
      cause,
    );

  async function update(
    session: Transaction,
    before: StoredDefinition,
    fields: DefinitionFields,
    cause: Cause,
  ): Promise<StoredDefinition> {
    const at = momentOfChange(cause.at, before.updated_at);
    const row = rowOf(fields, Date.parse(definitionOf(before).createdAt), at);
    await session.run(build.updateTable('attributes').set(row).where('id', '=', before.id).compile());
    const stored = { id: before.id, document: row.document, updated_at: at };
    await record(session, 'updated', before, stored, cause);
    return stored;
  }

  return {
    list: lister<StoredDefinition>(database, {
      table: 'attributes',
      columns: ['document', 'updated_at'],
      collection: attributeDefinitions,
    }),
    find: (session, id) => session.first(byId(id).compile()),
    lock: (session, id) => session.first(byId(id).modifyEnd(dialect.forUpdate).compile()),
    async count(session) {
      const total = sql<number>`cast(count(*) as integer)`.as('total');
      return (await session.first(build.selectFrom('attributes').select(total).compile()))?.total ?? 0;
    },
    async seenBy(session) {
      const isSeen = (await session.first(version))?.version === changes.version(attributeDefinitions);
      return isSeen && known !== undefined ? known : all(session);
    },
    async current() {
      await changes.look();
      if (known !== undefined) return known;
      const mine = reading ?? all(database.read);
      reading = mine;
      try {
        const found = await mine;
        // What has changed meanwhile is read by the next who asks.
        if (reading === mine) known = found;
        return found;
      } finally {
        if (reading === mine) reading = undefined;
      }
    },
    async insert(session, fields, cause) {
      const row = rowOf(fields, cause.at, cause.at);
      const id = await session.insert(build.insertInto('attributes').values(row).compile());
      const stored = { id, document: row.document, updated_at: row.updated_at };
      await record(session, 'created', undefined, stored, cause);
      return stored;
    },
    update,
    async remove(session, before, cause) {
      await session.run(build.deleteFrom('attributes').where('id', '=', before.id).compile());
      await record(session, 'deleted', before, undefined, cause);
    },
    async renameCategory(session, former, path, cause) {
      const rows = build.selectFrom('attributes').select(columns).orderBy('id').modifyEnd(dialect.forUpdate);
      for (const before of await session.all(rows.compile())) {
        const { id: _id, createdAt: _created, updatedAt: _updated, ...fields } = definitionOf(before);
        const requiredIn = fields.requiredIn.map(one => renamedPath(one, former, path));
        if (requiredIn.some((one, index) => one !== fields.requiredIn[index]))
          await update(session, before, { ...fields, requiredIn }, cause);
      }
    },
  };
}
