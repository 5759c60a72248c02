/** Rows that hold their representation as JSON text, with what others need of it in columns; each change has its event. */
import { type Cause, createChangeBuilder, type Outbox } from '../../events/outbox.ts';
import type { Collection } from '../../storage/changes/change.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { createLister, type Lister } from '../../storage/list/index.ts';
import { computeChangeMoment, toIsoDate } from '../../storage/moments.ts';
import { createTableRows } from '../../storage/table-rows.ts';
import type { Tables } from '../../storage/tables.ts';

export type StoredDocument = {
  readonly id: number;
  /** The representation as JSON text, without the opening `{"id":…,`. */
  readonly document: string;
  readonly updated_at: number;
};

export interface DocumentRows<Fields> {
  find(session: Session, id: number): Promise<StoredDocument | undefined>;
  /** The same, keeping others from changing it until the transaction ends. */
  lock(session: Session, id: number): Promise<StoredDocument | undefined>;
  count(session: Session): Promise<number>;
  readonly list: Lister<StoredDocument>;
  /** All of them, in order of id. */
  all(session: Session): Promise<StoredDocument[]>;
  /** @throws StorageError `unique` when another has a value that must be unique */
  insert(session: Transaction, fields: Fields, cause: Cause): Promise<StoredDocument>;
  /** Writes new fields over a row that is locked. @throws as `insert` */
  update(session: Transaction, before: StoredDocument, fields: Fields, cause: Cause): Promise<StoredDocument>;
  remove(session: Transaction, before: StoredDocument, cause: Cause): Promise<void>;
}

/** The representation as JSON text. */
export const toDocumentJson = ({ id, document }: Pick<StoredDocument, 'id' | 'document'>): string =>
  `{"id":${id},${document}`;

interface Spec<Fields> {
  readonly table: keyof Tables & string;
  readonly collection: Collection;
  /** In the singular, as events name it. */
  readonly resource: string;
  /** The columns besides those that all have, with their values. */
  columnsOf(fields: Fields): Readonly<Record<string, string>>;
  readonly columns: readonly string[];
}

export function createDocumentRows<Fields extends object>(
  database: Database,
  outbox: Outbox,
  { table: name, collection, resource, columns, columnsOf }: Spec<Fields>,
): DocumentRows<Fields> {
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
    count: rows.count,
    all: rows.all,
    list: createLister<StoredDocument>(database, {
      table: name,
      columns: ['document', 'updated_at'],
      collection,
    }),
    async insert(session, fields, cause) {
      const row = toRow(fields, cause.at, cause.at);
      const stored = { id: await rows.insert(session, row), ...row };
      await outbox.record(session, changeOf('created', undefined, stored), cause);
      return stored;
    },
    async update(session, before, fields, cause) {
      const { createdAt } = parseStored<{ createdAt: string }>(toDocumentJson(before));
      const row = toRow(fields, Date.parse(createdAt), computeChangeMoment(cause.at, before.updated_at));
      await rows.update(session, before.id, row);
      const stored = { id: before.id, ...row };
      await outbox.record(session, changeOf('updated', before, stored), cause);
      return stored;
    },
    async remove(session, before, cause) {
      await rows.remove(session, before.id);
      await outbox.record(session, changeOf('deleted', before, undefined), cause);
    },
  };
}
