/**
 * The program in one file and compiled, for tests, which start it some hundred times: compiling its six hundred files costs
 * more than all else that a start does. Its threads, and who starts it by `scripts/catalog.mjs`, read the files.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BunPlugin } from 'bun';

/** What a file knows of its place stays what it is: threads are started, and pages read, from beside it. */
const placed: BunPlugin = {
  name: 'place of each file',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dir', JSON.stringify(join(path, '..')));
      return { contents, loader: 'ts' };
    });
  },
};

/** @returns the path of the file, below `folder` */
export async function buildProgram(folder: string): Promise<string> {
  const main = join(import.meta.dir, '..', '..', 'src', 'main.ts');
  const { outputs } = await Bun.build({
    entrypoints: [main],
    target: 'bun',
    // What bytecode can be made of.
    format: 'cjs',
    bytecode: true,
    outdir: join(folder, 'program'),
    plugins: [placed],
  });
  const output = outputs.find(({ kind }) => kind === 'entry-point');
  if (output === undefined) throw new Error(`${main} makes no file`);
  return output.path;
}
