#!/usr/bin/env node
/** `npm start` and `npx catalog`: installs what is missing, then hands over to src/main.ts under Bun. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { bunBinary, commandEnvironments, ensureInstalled, isInstalled, root } from './install.mjs';
import { bunArguments, environmentIn } from './settings.mjs';

const parentCheckMs = 250;

// The only command that needs no packages: none are installed for it.
if (['--version', '-v'].includes(process.argv[2]) && !isInstalled('production')) {
  console.log(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
  process.exit();
}
ensureInstalled('production');
// The service reads the pipe, which closes when this process ends, even by SIGKILL.
const child = spawn(bunBinary(), [...bunArguments, join(root, 'src', 'main.ts'), ...process.argv.slice(2)], {
  stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
  env: {
    ...commandEnvironments[process.argv[2]],
    ...environmentIn('.'),
    CATALOG_PARENT_PIPE: '3',
  },
});
child.stdio[3].on('error', () => undefined);
// A terminal signals the whole group, a supervisor only this process: pass the signal on, and let the child decide.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));

// npm runs this through a shell that passes no signals on: if npm or the shell ends, no signal arrives.
if (process.env.npm_command !== undefined) {
  const [shell, npm] = [process.ppid, parentOf(process.ppid)];
  const watch = setInterval(() => {
    if (process.ppid === shell && parentOf(shell) === npm) return;
    // Only once: a second signal would cut the stop delay short.
    clearInterval(watch);
    child.kill('SIGTERM');
  }, parentCheckMs).unref();
}

/** The parent of a process; undefined if the system has no /proc that shows it. */
function parentOf(pid) {
  try {
    return /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
