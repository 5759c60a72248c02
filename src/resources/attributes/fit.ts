/** Products' attributes checked in the transaction that writes them, against what is defined then. */
import type { Session } from '../../storage/database.ts';
import { takeTurn } from '../../turns/index.ts';
import { type Attributed, requireAttributes } from './rules.ts';
import type { DefinitionStore, Definitions } from './store.ts';

/**
 * @param before the product as it was; undefined for a new one
 * @throws HttpError 400 that names each attribute that does not fit
 */
type AttributeFit = (after: Attributed, before?: Attributed) => Promise<void>;

/** @returns a function that gives what checks the products of one transaction: definitions are read once at most */
export function createAttributeFits(
  definitions: Pick<DefinitionStore, 'seenBy'>,
): (session: Session) => AttributeFit {
  return session => {
    let defined: Definitions | undefined;
    return async (after, before) => {
      if (before !== undefined && isSame(before, after)) return;
      defined ??= await definitions.seenBy(session);
      // A product is compared with all definitions: very many products with very many definitions take long.
      const due = takeTurn();
      if (due !== undefined) await due;
      requireAttributes(defined, after, before);
    };
  };
}

const isSame = (before: Attributed, after: Attributed): boolean =>
  before.category === after.category &&
  JSON.stringify(before.categories) === JSON.stringify(after.categories) &&
  JSON.stringify(before.attributes) === JSON.stringify(after.attributes);
