/** Reads and changes all variants of a product, of which there may be very many. */
import { sql } from 'kysely';
import type { Cause, Outbox } from '../../events/outbox.ts';
import { createPartialUpdate } from '../../storage/bulk.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { computeChangeMoment } from '../../storage/moments.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { takeTurn } from '../../turns/index.ts';
import { readPages } from '../../turns/slices.ts';
import type { OptionValue } from '../products/rules.ts';
import {
  buildVariantChange,
  type StoredVariant,
  toKeptVariant,
  toVariantFields,
  toVariantRow,
  variantColumns,
  variantOf,
} from './row.ts';
import type { VariantFields } from './schema.ts';

/** Rows per statement. */
const rowsAtOnce = 500;

/** The columns that such a change may concern. */
const { document, combination, updated_at } = variantColumns;

export function createAllVariants(database: Pick<Database, 'build' | 'dialect'>, outbox: Outbox) {
  const someAfter = prepareQuery<{ productId: number; after: number }, StoredVariant>(
    database.build,
    argument => sql`select id, document, updated_at from product_variants
        where product_id = ${argument.productId} and id > ${argument.after}
        order by id limit ${sql.lit(rowsAtOnce)}`,
  );
  const write = createPartialUpdate(database, 'product_variants', { document, combination, updated_at }, [
    ['combination'],
  ]);
  const removeUpTo = prepareQuery<{ productId: number; last: number }, unknown>(
    database.build,
    argument => sql`delete from product_variants
        where product_id = ${argument.productId} and id <= ${argument.last}`,
  );
  const read = (session: Session, productId: number) =>
    readPages<StoredVariant>(last => session.all(someAfter({ productId, after: last?.id ?? 0 })));

  /**
   * Changes images or options of variants; the product must be locked.
   * @param toChanged returns the new fields of a variant, or the same object if nothing changes
   */
  async function change(
    session: Transaction,
    productId: number,
    toChanged: (fields: VariantFields) => VariantFields,
    cause: Cause,
  ): Promise<void> {
    for await (const some of read(session, productId)) {
      const changes = [];
      for (const stored of some) {
        await takeTurn();
        const { id } = stored;
        const old = variantOf(stored);
        const had = toVariantFields(old);
        const has = toChanged(had);
        if (has === had) continue;
        const at = computeChangeMoment(cause.at, stored.updated_at);
        const after = { ...toVariantRow(has, at, toKeptVariant(old)) };
        const before = has.options === had.options ? after : {};
        changes.push({ id, before, after, event: buildVariantChange('updated', stored, { id, ...after }) });
      }
      await write(session, changes);
      await outbox.recordAll(
        session,
        changes.map(({ event }) => event),
        cause,
      );
    }
  }

  return {
    change,

    /** The first of these option values that a variant of the product has; undefined if none is in use. */
    async usedOption(session: Session, productId: number, values: readonly OptionValue[]) {
      if (values.length === 0) return undefined;
      for await (const some of read(session, productId)) {
        for (const row of some) {
          await takeTurn();
          const { options } = variantOf(row);
          const used = values.find(({ name, value }) => options[name] === value);
          if (used !== undefined) return used;
        }
      }
      return undefined;
    },

    /**
     * Renames options of all variants of a locked product.
     * @param names new names by former name; no variant may already have one of the new names
     */
    renameOptions(session: Transaction, productId: number, names: ReadonlyMap<string, string>, cause: Cause) {
      const rename = (fields: VariantFields) => {
        const named = Object.entries(fields.options).map(([name, value]) => [names.get(name) ?? name, value]);
        return { ...fields, options: Object.fromEntries(named) };
      };
      return change(session, productId, rename, cause);
    },

    /** Deletes the variants of a locked product that is about to be deleted. */
    async removeAllOn(session: Transaction, productId: number, cause: Cause): Promise<void> {
      for await (const some of read(session, productId)) {
        await session.run(removeUpTo({ productId, last: some.at(-1)?.id ?? 0 }));
        await outbox.recordAll(
          session,
          some.map(row => buildVariantChange('deleted', row, undefined)),
          cause,
        );
      }
    },
  };
}
