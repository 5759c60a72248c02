/** Rows that hold their representation as JSON text, with columns for what queries need; each change has its event. */
import { type Cause, createChangeBuilder, type Outbox } from '../../events/outbox.ts';
import type { Collection } from '../../storage/changes/change.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import { computeChangeMoment, toIsoDate } from '../../storage/moments.ts';
import { createTableRows } from '../../storage/table-rows.ts';
import type { Tables } from '../../storage/tables.ts';

export type StoredDocument = {
  readonly id: number;
  /** The representation as JSON text, without the opening `{"id":…,`. */
  readonly document: string;
  readonly updated_at: number;
};

/** The representation as JSON text. */
export const toDocumentJson = ({ id, document }: Pick<StoredDocument, 'id' | 'document'>): string =>
  `{"id":${id},${document}`;

interface Spec<Fields> {
  readonly table: keyof Tables & string;
  readonly collection: Collection;
  /** The resource name in events, in the singular. */
  readonly resource: string;
  /** The values of the columns that are specific to this table. */
  columnsOf(fields: Fields): Readonly<Record<string, string>>;
  readonly columns: readonly string[];
}

export function createDocumentRows<Fields extends object>(
  database: Database,
  outbox: Outbox,
  { table: name, collection, resource, columns, columnsOf }: Spec<Fields>,
) {
  const rows = createTableRows<StoredDocument>(database, name, [
    ...columns,
    'created_at',
    'updated_at',
    'document',
  ]);
  const changeOf = createChangeBuilder(resource, toDocumentJson);

  function toRow(fields: Fields, createdAt: number, now: number) {
    const dates = { createdAt: toIsoDate(createdAt), updatedAt: toIsoDate(now) };
    const document = JSON.stringify({ ...fields, ...dates }).slice(1);
    return { ...columnsOf(fields), created_at: createdAt, updated_at: now, document };
  }

  return {
    find: rows.find,
    lock: rows.lock,
    /** The number of rows. Until the transaction ends, no other can count them: together, both could exceed a limit. */
    async countLocked(session: Transaction): Promise<number> {
      const lock = database.dialect.lock?.(`number of ${name}`, 'exclusive');
      if (lock !== undefined) await session.all(lock.compile(database.build));
      return rows.count(session);
    },
    /** All rows, in order of id. */
    all: rows.all,
    list: createLister<StoredDocument>(database, {
      table: name,
      columns: ['document', 'updated_at'],
      collection,
    }),
    /** @throws StorageError `unique` if another row has a value that must be unique */
    async insert(session: Transaction, fields: Fields, cause: Cause): Promise<StoredDocument> {
      const row = toRow(fields, cause.at, cause.at);
      const stored = { id: await rows.insert(session, row), ...row };
      await outbox.record(session, changeOf('created', undefined, stored), cause);
      return stored;
    },
    /** Writes new fields to a locked row. @throws as `insert` */
    async update(session: Transaction, before: StoredDocument, fields: Fields, cause: Cause) {
      const { createdAt } = parseStored<{ createdAt: string }>(toDocumentJson(before));
      const row = toRow(fields, Date.parse(createdAt), computeChangeMoment(cause.at, before.updated_at));
      await rows.update(session, before.id, row);
      const stored = { id: before.id, ...row };
      await outbox.record(session, changeOf('updated', before, stored), cause);
      return stored;
    },
    async remove(session: Transaction, before: StoredDocument, cause: Cause): Promise<void> {
      await rows.remove(session, before.id);
      await outbox.record(session, changeOf('deleted', before, undefined), cause);
    },
  };
}
