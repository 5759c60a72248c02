/**
 * Who may rely on the tree of categories while they write, and who changes it. A transaction that writes paths down (in
 * the events of products, say) shares the tree; one that moves or renames a category has it alone, so that no event
 * that is committed after a rename shows the old path.
 */
import type { CompiledQuery } from 'kysely';
import type { Database, Session } from '../database.ts';

const tree = 'categories';

export function createCategoryTree({ build, dialect: { lock } }: Pick<Database, 'build' | 'dialect'>) {
  const prepareLock = (name: string, mode: 'shared' | 'exclusive') => {
    const query: CompiledQuery<unknown> | undefined = lock?.(name, mode).compile(build);
    return async (session: Session): Promise<void> => {
      if (query !== undefined) await session.all(query);
    };
  };
  return {
    /** Keeps all paths as they are until the transaction ends. To be called before a path is read. */
    share: prepareLock(tree, 'shared'),
    /** Waits until no transaction shares the tree, and keeps others from it. */
    own: prepareLock(tree, 'exclusive'),
    /** Keeps others who share the tree from adding categories to it. */
    extend: prepareLock(`new ${tree}`, 'exclusive'),
  };
}
