/** The program that has started this one, as scripts/catalog.mjs does: when it is gone, this one ends in order. */
import { createReadStream } from 'node:fs';

/** Ends this process as by SIGTERM once the launcher, which holds the other end of a pipe, has ended in any way. */
export function endWithLauncher(): void {
  const descriptor = Number(process.env.CATALOG_PARENT_PIPE ?? Number.NaN);
  if (!Number.isInteger(descriptor)) return;
  const pipe = createReadStream('', { fd: descriptor });
  for (const event of ['end', 'error'] as const) pipe.on(event, () => process.kill(process.pid, 'SIGTERM'));
  pipe.resume();
}
