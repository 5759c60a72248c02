/** `catalog migrate`: brings the database up to date, for example before new replicas are started. */
import { loadConfig } from '../config.ts';
import { openDatabase } from '../storage/open.ts';
import { migrateAtStart, reportMigration } from './database.ts';
import { formatQuantity } from './terminal/index.ts';
import { type Command, parse } from './usage.ts';

export const command: Command = {
  help: `Usage: catalog migrate

Runs the pending migrations of the database, each once, under a lock, and prints their names. If it holds users or
products, standard error reports each as it begins. Several processes may run it at the same time. serve and import
migrate when they start; restore leaves that to them, and backup copies a database of any release. All other commands
refuse a database with pending migrations: upgrading it stops services of earlier releases from working, unless the
migration only adds (its name contains "expand").

Creates the database if there is none; an empty file counts as a new database. Builds the indexes that an import has
left out and not built, as serve does.

Exit status: 0 the database is up to date; 1 it is not, and each migration was applied completely or not at all;
2 the command line is wrong.`,

  async run(args) {
    parse(args, {});
    const config = loadConfig(process.env);
    const database = openDatabase(config);
    try {
      const { ran, rest, built } = await migrateAtStart(database, config, reportMigration);
      for (const name of ran) console.log(`migrated ${name}`);
      if (built > 0)
        console.log(`built ${formatQuantity(built, 'index', 'indexes')} that an import had left out`);
      if (rest !== undefined) console.log(rest);
      if (ran.length === 0) console.log('the database is up to date');
      return 0;
    } finally {
      await database.close();
    }
  },
};
