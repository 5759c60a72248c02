/**
 * s3rver on a free port, which it prints; it ends with its standard input. By Node: Bun finds another version of a
 * library of its than the one that is installed for it.
 */
import S3rver from 's3rver';

const [directory, bucket] = process.argv.slice(2);
const buckets = [{ name: bucket, configs: [] }];
const options = { port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets: buckets };
const { port } = await new S3rver(options).run();
console.log(port);
process.stdin.on('end', () => process.exit(0)).resume();
