/** Finds files whose amounts have a decimal comma, and others that were read with a decimal point. */
import type { WatchedMark } from '../../../files/cells/amount.ts';
import { formatCount } from '../../terminal/index.ts';

export function createMarkWatch() {
  let hasComma = false;
  let points = 0;
  return {
    watch(mark: WatchedMark): void {
      if (mark === 'comma') hasComma = true;
      else points += 1;
    },
    /** A line for people; undefined if all amounts can be meant as they were read. */
    describe: (): string | undefined =>
      hasComma && points > 0
        ? `${formatCount(points)} × numbers such as 1.234 were read with a decimal point, although others have a decimal comma: if the point separates thousands, import again with --decimal comma`
        : undefined,
  };
}
