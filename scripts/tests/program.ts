/**
 * Compiles the program and its threads into one file each for tests, which start them some hundred times: compiling
 * their six hundred files takes longer than the rest of a start. Starts by `scripts/catalog.mjs` use the source files.
 */
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BunPlugin, Glob } from 'bun';

const source = join(import.meta.dir, '..', '..', 'src');
const isSource = /[\\/]src[\\/].*\.ts$/;
/** The threads that are compiled, without the one that draws invoices, which reads its fonts beside its modules. */
const threads = [...new Glob('{cli,storage}/**/{worker,*-worker}.ts').scanSync(source)];
const threadUrl = /new URL\('\.\/((?:[\w-]+-)?worker)\.ts', import\.meta\.url\)/g;
const startsThread = /[\\/]src[\\/](cli|storage)[\\/].*[\\/](thread|reader|checkpoint)\.ts$/;

/** @param folder the folder of the compiled files @returns the text, which names compiled threads */
async function readWithThreads(path: string, folder: string): Promise<string> {
  const text = await Bun.file(path).text();
  if (!startsThread.test(path)) return text;
  const there = join(folder, relative(source, dirname(path)));
  return text.replaceAll(
    threadUrl,
    (_, name: string) => `new URL(${JSON.stringify(pathToFileURL(join(there, `${name}.js`)).href)})`,
  );
}

/** Files keep their original location, since pages are read relative to it, but start the compiled threads. */
const createPlacePlugin = (folder: string): BunPlugin => ({
  name: 'place of each file',
  setup(build) {
    build.onLoad({ filter: isSource }, async ({ path }) => {
      const contents = (await readWithThreads(path, folder))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dir', JSON.stringify(join(path, '..')));
      return { contents, loader: 'ts' };
    });
  },
});

/**
 * Makes a process that runs the source files start the compiled threads.
 * @param program the path that `buildProgram` has returned
 */
export const createThreadPlugin = (program: string): BunPlugin => ({
  name: 'compiled threads',
  setup(build) {
    build.onLoad({ filter: startsThread }, async ({ path }) => ({
      contents: await readWithThreads(path, dirname(program)),
      loader: 'ts',
    }));
  },
});

/** @returns the path of the compiled program, below `folder` */
export async function buildProgram(folder: string): Promise<string> {
  const outdir = join(folder, 'program');
  const { outputs } = await Bun.build({
    entrypoints: ['main.ts', ...threads].map(file => join(source, file)),
    root: source,
    target: 'bun',
    // Bytecode requires this format.
    format: 'cjs',
    bytecode: true,
    outdir,
    plugins: [createPlacePlugin(outdir)],
  });
  const output = outputs.find(({ kind }) => kind === 'entry-point');
  if (output === undefined) throw new Error(`there is no file of ${source}`);
  return join(outdir, 'main.js');
}
