/** The queries of attribute definitions, and a copy of all of them as of the last check for changes. */
import { sql } from 'kysely';
import type { Cause, Outbox } from '../../events/outbox.ts';
import { renamePath } from '../../storage/categories/names.ts';
import type { Collection } from '../../storage/changes/change.ts';
import { createFollowedValue } from '../../storage/changes/value.ts';
import { buildVersion } from '../../storage/changes/versions.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { takeTurn } from '../../turns/index.ts';
import { mapInSlices } from '../../turns/slices.ts';
import { createDocumentRows, type StoredDocument, toDocumentJson } from '../crud/documents.ts';
import type { Definition, DefinitionFields } from './schema.ts';

export type Definitions = ReadonlyMap<string, Definition>;

/** Definitions have changed since the work with them began. */
class DefinitionsReplaced extends Error {}

export type DefinitionStore = ReturnType<typeof createDefinitionStore>;

/** A change of any definition drops the whole cache: there are few, and they seldom change. */
export const attributeDefinitions: Collection = { name: 'attributes' };

/** The number of definitions that one statement reads and locks when paths change. */
const lockedAtOnce = 20;

export const toDefinition = (row: StoredDocument): Definition => parseStored<Definition>(toDocumentJson(row));

export function createDefinitionStore(database: Database, outbox: Outbox) {
  const { build, changes, dialect } = database;
  const { all: allRows, ...rows } = createDocumentRows<DefinitionFields>(database, outbox, {
    table: 'attributes',
    collection: attributeDefinitions,
    resource: 'attribute',
    columns: ['key', 'label', 'type'],
    columnsOf: ({ key, label, type }) => ({ key, label, type }),
  });
  const versionQuery = sql<{
    version: number;
  }>`select ${buildVersion(dialect, attributeDefinitions.name)} as version`;
  const version = versionQuery.compile(build);
  const lockedAfter = prepareQuery<{ after: number }, StoredDocument>(
    build,
    ({ after }) => sql`select id, document, updated_at from attributes
      where id > ${after} order by id limit ${sql.lit(lockedAtOnce)} ${dialect.forUpdate}`,
  );
  async function readAll(session: Session): Promise<Definitions> {
    const found = await mapInSlices(await allRows(session), toDefinition);
    return new Map(found.map(one => [one.key, one]));
  }
  const value = createFollowedValue(changes, attributeDefinitions, () => database.snapshot(readAll));

  return {
    ...rows,
    /** All definitions, as the session sees them. */
    async seenBy(session: Session): Promise<Definitions> {
      if (value.peek() === undefined) return readAll(session);
      const seen = (await session.first(version))?.version;
      // Taken together with the version: a check during the query may have dropped what was cached before it.
      const known = value.peek();
      const isSeen = seen !== undefined && seen === changes.version(attributeDefinitions);
      return isSeen && known !== undefined ? known : readAll(session);
    },
    /** All definitions as of the last check for changes. */
    current: value.current,
    /**
     * Runs work with all definitions as of the last check. Before it caches a result, the work calls `requireCurrent`,
     * in the turn that begins with its own check: if definitions have changed since, the work is run again.
     */
    async use<T>(work: (definitions: Definitions, requireCurrent: () => void) => T | Promise<T>): Promise<T> {
      for (;;) {
        const known = await value.current();
        const requireCurrent = () => {
          if (value.peek() !== known) throw new DefinitionsReplaced();
        };
        try {
          return await work(known, requireCurrent);
        } catch (error) {
          if (!(error instanceof DefinitionsReplaced)) throw error;
        }
      }
    },
    /** Updates the paths in definitions that name a renamed category or one of its descendants. */
    async renameCategory(session: Transaction, former: string, path: string, cause: Cause): Promise<void> {
      for (let after = 0; ; ) {
        const part = await session.all(lockedAfter({ after }));
        for (const before of part) {
          await takeTurn();
          const { id: _id, createdAt: _created, updatedAt: _updated, ...fields } = toDefinition(before);
          const renamed = fields.requiredIn.map(one => renamePath(one, former, path));
          // The new path may already be named: a definition keeps the path of a category that was deleted.
          const requiredIn = [...new Set(renamed)];
          if (renamed.some((one, index) => one !== fields.requiredIn[index]))
            await rows.update(session, before, { ...fields, requiredIn }, cause);
          after = before.id;
        }
        if (part.length < lockedAtOnce) return;
      }
    },
  };
}
