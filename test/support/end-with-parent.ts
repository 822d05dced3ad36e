import { rm } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { endUsersOf } from "../../script/end-processes.ts";

// postgres.ts runs this program, and writes the path of a folder to its standard input: with the path among its
// arguments, it would count as a process that uses the folder. Once its parent has ended, in whatever way, it ends all
// such processes and removes the folder.
const folder = await text(process.stdin);
await endUsersOf(folder);
await rm(folder, { recursive: true, force: true });
