/** `catalog media check`: compares the files of images with their rows and with the products that show them. */
import { HttpError } from '../../http/errors.ts';
import { createMedia, type Media } from '../../media/index.ts';
import { describeReason } from '../../media/store/store.ts';
import { createLog } from '../../operations/log.ts';
import { systemClock } from '../../ports/clock.ts';
import type { Database } from '../../storage/database.ts';
import { runWithDatabase } from '../database.ts';
import { escapeUnprintable, formatCount } from '../terminal/index.ts';
import { type Command, parse, runAction, UsageError } from '../usage.ts';
import { type Found, findWrong, type Wrong } from './find.ts';
import { createRepairer } from './repair.ts';

export const command: Command = {
  help: `Usage: catalog media check [--content] [--repair [--all-files-are-lost]]

Compares the image files, in DATA_DIR/media or where MEDIA_URL points, with the rows of the database and the images
that products show, and prints a line for each problem. The service may be running. Files without a row
that were written within the last hour may belong to an upload in progress, and are ignored. If the folder itself is
missing or cannot be read, one line reports that, and nothing is changed.

  --content  also reads every file and compares it with its name, which is the SHA-256 of its content
  --repair   deletes files that nothing shows; creates the rows of files that a product shows; removes images without
             a file from their products, each with an event; and rewrites the record of which products show what. A
             damaged file is not changed: restore it from a backup under the same name, or delete the images that
             show it.
  --all-files-are-lost
             lets --repair continue if every file is missing. Otherwise it refuses, since the files may be on a share
             that is not mounted, or elsewhere than MEDIA_URL points.

Exit status: 0 no problems, or all were repaired; 1 problems remain; 2 the command line is wrong.`,

  run: args => runAction({ check }, args),
};

async function check(args: string[]): Promise<number> {
  const { values } = parse(args, {
    content: { type: 'boolean' },
    repair: { type: 'boolean' },
    'all-files-are-lost': { type: 'boolean' },
  });
  if (values['all-files-are-lost'] === true && values.repair !== true)
    throw new UsageError('--all-files-are-lost is for --repair only');
  const log = createLog('silent', () => undefined, systemClock.now);
  return runWithDatabase(async (database, config) => {
    const media = createMedia(config, systemClock, log);
    const found = await findIn(database, media, values.content === true);
    const { wrong, files, size } = found;
    for (const one of wrong.slice(0, shownLines)) console.log(escapeUnprintable(formatLine(one)));
    if (wrong.length > shownLines) console.log(`and ${wrong.length - shownLines} more`);
    if (wrong.length === 0) {
      console.log(
        `no problems found: ${files} ${files === 1 ? 'file' : 'files'} of ${formatCount(size)} bytes in ${media.store.place}`,
      );
      return 0;
    }
    if (values.repair !== true) {
      console.log(`${wrong.length} wrong; catalog media check --repair repairs all but damaged files`);
      return 1;
    }
    if (found.hasLostAll && values['all-files-are-lost'] !== true) throw new Error(formatRefusal(media));
    const repair = createRepairer(database, media);
    let left = 0;
    for (const one of wrong) left += (await repair(one)) ? 0 : 1;
    console.log(`${wrong.length - left} repaired${left === 0 ? '' : `, ${left} left: damaged files`}`);
    return left === 0 ? 0 : 1;
  });
}

/** @throws Error that says why the files cannot be reached */
async function findIn(database: Database, media: Media, content: boolean): Promise<Found> {
  try {
    return await findWrong(database, media.store, { content, now: systemClock.now() });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw new Error(`the images cannot be reached: ${describeReason(error)}; nothing was changed`, {
      cause: error,
    });
  }
}

const formatRefusal = ({ store }: Media): string =>
  `none of the image files is in ${store.place}, so nothing was changed: is it mounted, and does MEDIA_URL point to the right place? If all files are lost, add --all-files-are-lost to remove the images from their products`;

const shownLines = 100;

function formatLine(wrong: Wrong): string {
  const shown = wrong.products.length > 0 ? `; shown by ${formatProducts(wrong.products)}` : '';
  switch (wrong.kind) {
    case 'file without row':
      return `${wrong.hash}: a file of ${formatCount(wrong.size)} bytes without a row${shown}`;
    case 'row without file':
      return `${wrong.hash}: a row without a file${shown}`;
    case 'neither':
      return `${wrong.hash}: neither a row nor a file${shown}`;
    case 'uses':
      return `${wrong.hash}: the record of the products that show it is wrong${shown}`;
    case 'damaged':
      return `${wrong.hash}: the file is damaged: ${wrong.reason}${shown}`;
  }
}

/** A line names at most this many products. */
const namedProducts = 10;

function formatProducts(ids: readonly number[]): string {
  const rest = ids.length - namedProducts;
  const first = ids.slice(0, namedProducts).join(', ');
  return `${ids.length === 1 ? 'product' : 'products'} ${first}${rest > 0 ? ` and ${rest} more` : ''}`;
}
