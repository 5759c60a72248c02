/**
 * Installs what package-lock.json asks for when it is not there yet, so that `npm start` and `npm test`
 * need nothing done before them. Plain Node: at this point nothing else is known to exist.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runLocked } from './lock.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Settings of Bun for the commands that need some, which no file of the project can make. A service keeps memory that was
 * freed for what comes next: otherwise it is given back to the system and taken again, page by page, for each list that is
 * made. An import collects garbage as on a machine of 300 MB, which takes it no longer.
 */
export const commandEnvironments = {
  serve: { MIMALLOC_PURGE_DELAY: '-1' },
  import: { BUN_JSC_forceRAMSize: '300000000' },
};

/** @param {'production' | 'development'} mode what the caller needs; development includes production */
export function ensureInstalled(mode) {
  if (isInstalled(mode)) return;
  requireOwnFolders(mode);
  const onWait = holder =>
    console.error(
      `catalog: process ${holder} installs dependencies in this folder: waiting for it (if it is something else, remove ${lock}) …`,
    );
  let isDone = false;
  try {
    isDone = runLocked(lock, onWait, () => isInstalled(mode) || install(mode));
  } catch (error) {
    console.error(`catalog: ${mode} dependencies cannot be installed: ${error.message}`);
  }
  if (!isDone) process.exit(1);
}

/** Beside node_modules, which npm empties. */
const lock = join(root, '.installing');

/**
 * npm empties the folder behind a link before it installs, and that may be the one of another checkout. Ends the process.
 */
function requireOwnFolders(mode) {
  const workspaces = packagesOf('package-lock.json')['']?.workspaces ?? [];
  for (const folder of ['.', ...workspaces]) {
    const path = join(root, folder, 'node_modules');
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    console.error(
      `catalog: ${path} is a symbolic link, and what it leads to lacks ${mode} dependencies; remove the link, or run npm ci in the folder that it leads to, and try again`,
    );
    process.exit(1);
  }
}

/** @returns whether it went well */
function install(mode) {
  console.error(`catalog: installing ${mode} dependencies (once) …`);
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const flags = mode === 'production' ? ['--omit=dev'] : ['--include=dev'];
  const result = spawnSync(npm, ['ci', ...flags, '--no-fund', '--no-audit', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (result.status !== 0)
    console.error(
      'catalog: the installation failed; the lines above say why. Check the network and npm, then try again.',
    );
  return result.status === 0;
}

/**
 * Whether node_modules holds every package that package-lock.json names, in its version, no matter who has installed them: npm
 * writes down what it has installed when it is done. Optional ones may be missing, as they are for other platforms.
 */
export function isInstalled(mode) {
  const installed = packagesOf(join('node_modules', '.package-lock.json'));
  return Object.entries(packagesOf('package-lock.json')).every(
    ([path, { version, dev, optional, devOptional }]) =>
      !path.includes('node_modules/') ||
      optional ||
      devOptional ||
      (dev && mode === 'production') ||
      (installed[path] !== undefined && installed[path].version === version),
  );
}

function packagesOf(lockfile) {
  const path = join(root, lockfile);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {};
}

/**
 * The pinned Bun that npm installed, whatever else is on the PATH. Its install script moves the binary out of the
 * package of this platform; where npm was set to run no scripts (`ignore-scripts=true`) it is still there, and
 * what stands in its place is a few lines of text.
 */
export function bunBinary() {
  const own = ['bun.exe', 'bun'].map(name => join(root, 'node_modules', 'bun', 'bin', name));
  const found = own.find(isProgram) ?? platformBinaries().find(runs);
  if (found !== undefined) return found;
  console.error('catalog: the Bun binary is missing from node_modules; remove node_modules and try again.');
  process.exit(1);
}

/** Those of the platform packages, of which npm may have installed several: for other C libraries, for example. */
function platformBinaries() {
  const scope = join(root, 'node_modules', '@oven');
  const packages = existsSync(scope) ? readdirSync(scope) : [];
  return packages
    .flatMap(name => ['bun', 'bun.exe'].map(file => join(scope, name, 'bin', file)))
    .filter(isProgram);
}

function isProgram(path) {
  return existsSync(path) && statSync(path).size > 1_000_000;
}

function runs(path) {
  return spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0;
}
