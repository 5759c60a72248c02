/** `catalog backup`: makes a consistent copy of the embedded database while the service runs. */
import { existsSync, statSync } from 'node:fs';
import { loadConfig } from '../../config.ts';
import { getEmbeddedFile } from '../../storage/open.ts';
import { runWithCatalog } from '../database.ts';
import { createPartialFile, refuseKept } from '../output-file.ts';
import { escapeUnprintable, formatCount } from '../terminal/index.ts';
import { type Command, parse, requireOnePositional, UsageError } from '../usage.ts';
import { copyInThread } from './thread.ts';

export const command: Command = {
  help: `Usage: catalog backup FILE

Writes a consistent, compacted and verified copy of the embedded database to FILE, which must not exist yet.
The service may be running and continues to accept writes. To restore the copy, use catalog restore FILE.
Also keep the file jwt-secret in DATA_DIR, or all users must sign in again. Images are files beside the database:
afterwards, copy the folder media in DATA_DIR, or the store that MEDIA_URL names.

With DATABASE_URL the database is in PostgreSQL: use pg_dump.

The copy is written into the folder FILE.PID.partial, and moved from there when it is complete. A signal that ends the
backup (SIGTERM, SIGINT, SIGHUP) removes it; the next backup to FILE removes one left by a killed process.

Exit status: 0 the copy is complete; 1 the backup failed, and FILE was not created;
2 the command line is wrong.`,

  async run(args) {
    const file = requireOnePositional(parse(args, {}, true).positionals, 'FILE');
    if (file === '-') throw new UsageError('a backup cannot be written to standard output; name a file');
    const config = loadConfig(process.env);
    if (config.DATABASE_URL !== undefined)
      throw new Error('the database is PostgreSQL (DATABASE_URL): back it up with pg_dump');
    refuseKept(file, config);
    const bytes = await runWithCatalog(() => writeBackup(getEmbeddedFile(config), file));
    console.log(`${formatCount(bytes)} bytes written to ${escapeUnprintable(file)}, integrity checked`);
    return 0;
  },
};

/** @returns the size of the copy in bytes @throws Error with one line when `file` exists or cannot be written */
async function writeBackup(database: string, file: string): Promise<number> {
  refuseExisting(file);
  const partial = createPartialFile(file, 'backup');
  try {
    await copyInThread({ command: 'backup', from: database, to: partial.path });
    // Copying takes long: another process may have written it.
    refuseExisting(file);
    partial.finish();
    return statSync(file).size;
  } finally {
    partial.remove();
  }
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new Error(`${file} already exists; nothing was written`);
}
