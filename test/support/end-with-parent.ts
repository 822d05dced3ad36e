import { rm } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { endUsersOf } from "../../script/end-processes.ts";

// A program of its own, for postgres.ts, which writes a folder's path to it: among its arguments, it would be a user of
// that folder. Once its parent has ended, however it did, it ends what uses the folder, and removes that.
const folder = await text(process.stdin);
await endUsersOf(folder);
await rm(folder, { recursive: true, force: true });
