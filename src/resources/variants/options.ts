/** Options of a product's variants: whether values are in use, and renaming. */
import type { Cause, Outbox } from '../../events/outbox.ts';
import { createPartialUpdate } from '../../storage/bulk.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { computeChangeMoment } from '../../storage/moments.ts';
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
import type { buildVariantStatements } from './statements.ts';

/** The columns that change when an option is renamed. */
const { document, combination, updated_at } = variantColumns;

export function createVariantOptions(
  database: Pick<Database, 'build' | 'dialect'>,
  outbox: Outbox,
  { someAfter }: Pick<ReturnType<typeof buildVariantStatements>, 'someAfter'>,
) {
  const write = createPartialUpdate(database, 'product_variants', { document, combination, updated_at }, []);
  const readAll = (session: Session, productId: number) =>
    readPages<StoredVariant>(last => session.all(someAfter({ productId, after: last?.id ?? 0 })));

  return {
    /** The first of these option values that a variant of the product has; undefined if none is in use. */
    async usedOption(session: Session, productId: number, values: readonly OptionValue[]) {
      if (values.length === 0) return undefined;
      for await (const some of readAll(session, productId)) {
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
    async renameOptions(
      session: Transaction,
      productId: number,
      names: ReadonlyMap<string, string>,
      cause: Cause,
    ): Promise<void> {
      for await (const some of readAll(session, productId)) {
        const changes = [];
        for (const before of some) {
          await takeTurn();
          const old = variantOf(before);
          const named = Object.entries(old.options).map(([name, value]) => [names.get(name) ?? name, value]);
          const fields = { ...toVariantFields(old), options: Object.fromEntries(named) };
          const at = computeChangeMoment(cause.at, before.updated_at);
          changes.push({ before, after: toVariantRow(fields, at, toKeptVariant(old)) });
        }
        await write(
          session,
          changes.map(({ before: { id }, after }) => ({ id, before: {}, after: { ...after } })),
        );
        await outbox.recordAll(
          session,
          changes.map(({ before, after }) =>
            buildVariantChange('updated', before, { ...after, id: before.id }),
          ),
          cause,
        );
      }
    },
  };
}
