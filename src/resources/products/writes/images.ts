/** What follows when the images of a product change: uses of uploads, and variants and categories that show them. */
import type { Cause, Outbox } from '../../../events/outbox.ts';
import type { Database, Transaction } from '../../../storage/database.ts';
import { createCategoryImageRemover } from '../../categories/images.ts';
import { createAllVariants } from '../../variants/all.ts';
import { createUploadUseWriter, type ImageChange } from '../members/uploads.ts';

interface FollowedChange extends ImageChange {
  /** Whether variants lose the images that the product loses. */
  readonly withVariants?: boolean;
}

/** @returns a function for a change of a locked or new product */
export function createImageFollower(database: Database, outbox: Outbox) {
  const writeUses = createUploadUseWriter(database);
  const variants = createAllVariants(database, outbox);
  const clearCategories = createCategoryImageRemover(database, outbox);

  return async (session: Transaction, change: FollowedChange, cause: Cause): Promise<void> => {
    const { id, before, after, withVariants = false } = change;
    await writeUses(session, change, cause.at);
    const kept = new Set(after.map(image => image.id));
    const lost = new Set(before.map(image => image.id)).difference(kept);
    if (lost.size === 0) return;
    if (withVariants) {
      const clear = (imageId: number | null) => imageId !== null && lost.has(imageId);
      await variants.change(
        session,
        id,
        fields => (clear(fields.imageId) ? { ...fields, imageId: null } : fields),
        cause,
      );
    }
    await clearCategories(session, id, lost, cause);
  };
}
