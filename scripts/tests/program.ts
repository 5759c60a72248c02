/**
 * Compiles the program into one file for tests, which start it some hundred times: compiling its six hundred files
 * takes longer than the rest of a start. Its threads, and starts by `scripts/catalog.mjs`, use the source files.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BunPlugin } from 'bun';

/** Files keep their original location: threads are started, and pages read, relative to it. */
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
    // Bytecode requires this format.
    format: 'cjs',
    bytecode: true,
    outdir: join(folder, 'program'),
    plugins: [placed],
  });
  const output = outputs.find(({ kind }) => kind === 'entry-point');
  if (output === undefined) throw new Error(`${main} makes no file`);
  return output.path;
}
