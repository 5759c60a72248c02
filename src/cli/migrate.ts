/** `catalog migrate`: brings the database up to date, for example before new replicas are started. */
import { loadConfig } from '../config.ts';
import { describeRest, migrate } from '../storage/migrations/migrate.ts';
import { finishBulkLoad, finishPostgresLoad, openDatabase } from '../storage/open.ts';
import { awaitAtStart, reportMigration } from './database.ts';
import { type Command, parse } from './usage.ts';

export const command: Command = {
  help: `Usage: catalog migrate

Runs the migrations that the database lacks, each once, under a lock, and prints their names; standard error gets the
name of each as it begins. Several
processes may do so at the same time. serve and import do it by themselves when they start; restore leaves it to them.
All other commands refuse a database that lacks migrations: upgrading it puts services of earlier releases out of
service, unless the migration only adds (its name has "expand" in it).

Makes the database where there is none; an empty file is taken for a new one.

Exit status: 0 the database is up to date; 1 it is not, and each migration is done as a whole or not at all;
2 the command line is wrong.`,

  async run(args) {
    parse(args, {});
    const config = loadConfig(process.env);
    finishBulkLoad(config);
    const database = openDatabase(config);
    try {
      await awaitAtStart(database);
      await finishPostgresLoad(database);
      const ran = await migrate(database, Date.now, reportMigration);
      for (const name of ran) console.log(`migrated ${name}`);
      const rest = describeRest(ran, database);
      if (rest !== undefined) console.log(rest);
      if (ran.length === 0) console.log('the database is up to date');
      return 0;
    } finally {
      await database.close();
    }
  },
};
