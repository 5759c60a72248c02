/** `catalog migrate`: for those who bring the database up to date before they start new replicas. */
import { loadConfig } from '../config.ts';
import { describeRest, migrate } from '../storage/migrations/migrate.ts';
import { finishBulkLoad, finishPostgresLoad, openDatabase } from '../storage/open.ts';
import { awaitAtStart } from './database.ts';
import { type Command, parse } from './usage.ts';

export const command: Command = {
  help: `Usage: catalog migrate

Runs the migrations that the database lacks, each once, under a lock, and prints their names. Several
processes may do so at the same time. serve does it by itself at its start.`,

  async run(args) {
    parse(args, {});
    const config = loadConfig(process.env);
    finishBulkLoad(config);
    const database = openDatabase(config);
    try {
      await awaitAtStart(database);
      await finishPostgresLoad(database);
      const ran = await migrate(database, Date.now);
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
