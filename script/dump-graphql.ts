import { writeFile } from "node:fs/promises";
import { printedSchema } from "../src/api/graphql/schema.ts";

// `npm run graphql-schema`: writes down what clients can ask for, so that a change of it shows in the diff.
await writeFile(new URL("../src/api/graphql/schema.graphql", import.meta.url), printedSchema());
