import type { Command } from "commander";
export function addSimulate(_program: Command): void {}
