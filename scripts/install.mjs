/**
 * Installs the packages of package-lock.json if they are missing, so that `npm start` and `npm test` need no
 * preparation. Plain Node: nothing else can be assumed to exist yet.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runLocked } from './lock.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Settings of Bun for certain commands, which cannot be set in a file of the project. The service keeps freed memory
 * for reuse; otherwise each list would return it to the system and fetch it again page by page. An import collects
 * garbage as on a machine with 300 MB, which does not slow it down.
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
 * Ends the process if node_modules is a link: npm empties the folder behind it, which may belong to another checkout.
 */
function requireOwnFolders(mode) {
  const workspaces = packagesOf('package-lock.json')['']?.workspaces ?? [];
  for (const folder of ['.', ...workspaces]) {
    const path = join(root, folder, 'node_modules');
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    console.error(
      `catalog: ${path} is a symbolic link, and its target lacks ${mode} dependencies; remove the link, or run npm ci in the target folder, and try again`,
    );
    process.exit(1);
  }
}

/** @returns whether it succeeded */
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
      'catalog: the installation failed; see the lines above. Check the network and npm, then try again.',
    );
  return result.status === 0;
}

/**
 * Whether node_modules holds every package of package-lock.json in its version, no matter how it was installed: npm
 * records what it has installed when it finishes. Optional packages may be missing, as they may be for other platforms.
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
 * The pinned Bun that npm installed, regardless of the PATH. Its install script moves the binary out of the package of
 * this platform. If npm runs no scripts (`ignore-scripts=true`), the binary is still there, and its place holds a short
 * text file.
 */
export function bunBinary() {
  const own = ['bun.exe', 'bun'].map(name => join(root, 'node_modules', 'bun', 'bin', name));
  const found = own.find(isProgram) ?? platformBinaries().find(runs);
  if (found !== undefined) return found;
  console.error('catalog: the Bun binary is missing from node_modules; remove node_modules and try again.');
  process.exit(1);
}

/** The binaries of the platform packages; npm may have installed several, for example for different C libraries. */
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
