/** The program: runs its command line and exits with its status. */
import { endWithLauncher } from './cli/launcher.ts';
import { runProgram } from './cli/program.ts';

// Files that a command writes are for its own user only: the database and its log, mails, backups, exports.
process.umask(0o077);

endWithLauncher();

// A command that ends without a status, since nothing keeps the process alive any more, has failed.
process.exitCode = 1;

// Explicitly: an open pipe on standard input or output would keep a finished process alive.
void runProgram(process.argv.slice(2)).then(status => process.exit(status));
