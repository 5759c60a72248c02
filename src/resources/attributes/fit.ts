/** Checks the attributes of products in the transaction that writes them, against the definitions of that moment. */
import type { Session } from '../../storage/database.ts';
import { takeTurn } from '../../turns/index.ts';
import { type Attributed, requireAttributes } from './rules.ts';
import type { DefinitionStore, Definitions } from './store.ts';

/**
 * @param before the product before the change; undefined for a new one
 * @throws HttpError 400 naming each attribute that does not fit
 */
type AttributeFit = (after: Attributed, before?: Attributed) => Promise<void>;

/** @returns a function that makes the check for one transaction, which reads the definitions at most once */
export function createAttributeFits(
  definitions: Pick<DefinitionStore, 'seenBy'>,
): (session: Session) => AttributeFit {
  return session => {
    let defined: Definitions | undefined;
    return async (after, before) => {
      if (before !== undefined && isSame(before, after)) return;
      defined ??= await definitions.seenBy(session);
      // A product is compared with all definitions: very many products with very many definitions take long.
      await takeTurn();
      requireAttributes(defined, after, before);
    };
  };
}

const isSame = (before: Attributed, after: Attributed): boolean =>
  before.category === after.category &&
  JSON.stringify(before.categories) === JSON.stringify(after.categories) &&
  JSON.stringify(before.attributes) === JSON.stringify(after.attributes);
