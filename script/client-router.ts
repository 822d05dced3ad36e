import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { REASONS } from "../src/domain/refusals/reasons.ts";

/**
 * The type of the server's router as a module that needs nothing but itself: the compiler's own declaration,
 * with tRPC's types written out as far as clients read them.
 * @param scratch a folder for temporary files
 */
export async function appRouterSource(project: string, scratch: string): Promise<string> {
  const emitted = await emitDeclaration(project, scratch);
  const record = /TRPCDecorateCreateRouterOptions<(\{.*\})>>;\s*$/s.exec(emitted)?.[1];
  if (record === undefined) throw new Error("src/api/rpc/router.ts: its declaration is not one of a router");
  const procedures = record
    .replaceAll('import("@trpc/server").TRPCQueryProcedure<', 'Procedure<"query", ')
    .replaceAll('import("@trpc/server").TRPCMutationProcedure<', 'Procedure<"mutation", ')
    .replaceAll(/\s*meta: object;\s*errorShape: import\("\.\/errors\.ts"\)\.RpcErrorShape;/g, "");
  const [foreign] = /import\([^)]*\)[.\w]*/.exec(procedures) ?? [];
  if (foreign !== undefined)
    throw new Error(`src/api/rpc/router.ts: ${foreign} is known to the server alone: write the type out`);
  const reasons = Object.keys(REASONS).map((reason) => `  | ${JSON.stringify(reason)}`);
  return `${HEAD}\nexport type Reason =\n${reasons.join("\n")};\n\ntype Procedures = ${procedures};\n`;
}

async function emitDeclaration(project: string, scratch: string): Promise<string> {
  const config = join(scratch, "tsconfig.router.json");
  const compilerOptions = {
    ...{ declaration: true, emitDeclarationOnly: true, noEmit: false, noCheck: true },
    ...{
      outDir: join(scratch, "router"),
      rootDir: project,
      typeRoots: [join(project, "node_modules/@types")],
    },
  };
  await writeFile(
    config,
    JSON.stringify({
      extends: join(project, "tsconfig.json"),
      compilerOptions,
      files: [join(project, "src/api/rpc/router.ts")],
      include: [],
    }),
  );
  await promisify(execFile)(join(project, "node_modules/.bin/tsc"), ["-p", config]);
  return readFile(join(scratch, "router/src/api/rpc/router.d.ts"), "utf8");
}

const HEAD = `/** The server's router, for clients of tRPC: \`createTRPCClient<AppRouter>\`. Written by script/client. */
export type AppRouter = {
  _def: {
    _config: {
      $types: { ctx: object; meta: object; errorShape: RpcErrorShape; transformer: true };
      transformer: any;
      errorFormatter: any;
      allowOutsideOfServer: boolean;
      isServer: boolean;
      isDev: boolean;
      pathSeparator: any;
    };
    router: true;
    procedures: Procedures;
    record: Procedures;
    lazy: Record<string, any>;
  };
  createCaller: (context: any, options?: any) => any;
} & Procedures;

/** An error as tRPC's client receives it. */
export type RpcErrorShape = {
  message: string;
  code: number;
  data: {
    code: string;
    httpStatus: number;
    reason: Reason;
    params: Record<string, unknown>;
    path?: string;
  };
};

type Procedure<Type extends "query" | "mutation", Types extends { input: unknown; output: unknown }> = {
  _def: {
    $types: Types & { errorShape: RpcErrorShape };
    procedure: true;
    type: Type;
    meta: unknown;
    experimental_caller: boolean;
    inputs: any[];
  };
  meta: object;
  (options: any): Promise<Types["output"]>;
};

/** Why the server refuses something. */`;
