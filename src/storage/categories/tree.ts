/**
 * Locks of the tree of categories. A transaction that writes paths (in the events of products, say) shares the tree.
 * One that moves or renames a category holds it exclusively, so that no event committed after a rename shows the old
 * path.
 */
import type { CompiledQuery } from 'kysely';
import type { Database, Session, Transaction } from '../database.ts';

const tree = 'categories';

export function createCategoryTree({ build, dialect: { lock } }: Pick<Database, 'build' | 'dialect'>) {
  const prepareLock = (name: string, mode: 'shared' | 'exclusive') => {
    const query: CompiledQuery<unknown> | undefined = lock?.(name, mode).compile(build);
    return async (session: Session): Promise<void> => {
      if (query !== undefined) await session.all(query);
    };
  };
  const lockAlone = prepareLock(tree, 'exclusive');
  return {
    /** Keeps all paths unchanged until the transaction ends. Must be called before a path is read. */
    share: prepareLock(tree, 'shared'),
    /** Waits until no other transaction shares the tree, and keeps others from sharing it. */
    async own(session: Transaction): Promise<void> {
      // Its work relies on the numbers of products, and other work on the version of the definitions that name paths.
      session.separate();
      await lockAlone(session);
    },
    /** Keeps other transactions that share the tree from adding categories to it. */
    extend: prepareLock(`new ${tree}`, 'exclusive'),
  };
}
