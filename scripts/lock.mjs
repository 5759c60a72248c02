/**
 * A lock for work that only one process at a time may do in a folder. The lock is a folder with an entry named by the
 * id of its holder; renaming makes both appear at once. Git ignores empty folders. Plain Node.
 */
import { mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

const pollMs = 200;

/**
 * @param {string} path of the lock; its parent must exist
 * @param {(holder: string) => void} onWait called once if another process holds the lock
 * @param {() => T} work runs while this process holds the lock
 * @template T
 * @returns {T}
 */
export function runLocked(path, onWait, work) {
  const own = String(process.pid);
  for (let waits = 0; !take(path, own); waits += 1) {
    const holder = findHolder(path);
    if (waits === 0 && holder !== undefined) onWait(holder);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMs);
  }
  try {
    return work();
  } finally {
    removeEmpty(join(path, own));
    removeEmpty(path);
  }
}

/** @returns whether this process now holds the lock */
function take(path, own) {
  const holder = findHolder(path);
  // Takes over the lock of a process that has ended; if several processes try, one succeeds.
  if (holder !== undefined) return !isAlive(holder) && rename(join(path, holder), join(path, own));
  // Windows cannot rename a folder to an existing one, not even an empty one.
  removeEmpty(path);
  const ready = `${path}-${own}`;
  mkdirSync(join(ready, own), { recursive: true });
  if (rename(ready, path)) return true;
  removeEmpty(join(ready, own));
  removeEmpty(ready);
  return false;
}

/** @returns the id of the holding process, as text; undefined if there is none */
function findHolder(path) {
  try {
    return readdirSync(path).find(name => /^\d+$/.test(name));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

function isAlive(holder) {
  // A container assigns the same ids on each start, so the holder was an earlier process.
  if (Number(holder) === process.pid) return false;
  try {
    return process.kill(Number(holder), 0);
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

/** @returns false if another process came first */
function rename(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) throw error;
    return false;
  }
}

function removeEmpty(path) {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) throw error;
  }
}
