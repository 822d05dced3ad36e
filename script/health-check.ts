/**
 * Exits 0 when the server on this machine is ready, for container engines and supervisors: node
 * script/health-check.ts
 */
const port = process.env.PORT ?? "3000";
const ready = await fetch(`http://127.0.0.1:${port}/api/ready`, { signal: AbortSignal.timeout(2_500) }).then(
  (response) => response.ok,
  () => false,
);
process.exit(ready ? 0 : 1);
