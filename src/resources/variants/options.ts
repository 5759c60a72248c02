/** Options of a product's variants: whether values are in use, and renaming. */
import type { Cause } from '../../events/outbox.ts';
import type { Session, Transaction } from '../../storage/database.ts';
import { takeTurn } from '../../turns/index.ts';
import type { OptionValue } from '../products/rules.ts';
import type { createAllVariants } from './all.ts';
import { variantOf } from './row.ts';

export function createVariantOptions(all: ReturnType<typeof createAllVariants>) {
  return {
    /** The first of these option values that a variant of the product has; undefined if none is in use. */
    async usedOption(session: Session, productId: number, values: readonly OptionValue[]) {
      if (values.length === 0) return undefined;
      for await (const some of all.read(session, productId)) {
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
    renameOptions: (
      session: Transaction,
      productId: number,
      names: ReadonlyMap<string, string>,
      cause: Cause,
    ) =>
      all.change(
        session,
        productId,
        fields => {
          const named = Object.entries(fields.options).map(([name, value]) => [
            names.get(name) ?? name,
            value,
          ]);
          return { ...fields, options: Object.fromEntries(named) };
        },
        cause,
      ),
  };
}
