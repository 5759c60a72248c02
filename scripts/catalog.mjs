#!/usr/bin/env node
/** `npm start` and `npx catalog`: installs what is missing, then hands over to src/main.ts under Bun. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bunBinary, ensureInstalled, root } from './install.mjs';

ensureInstalled('production');
const child = spawn(bunBinary(), [join(root, 'src', 'main.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
});
// The terminal signals the whole group, a supervisor only this process: pass it on and let the child decide.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
