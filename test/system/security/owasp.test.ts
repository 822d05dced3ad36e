import { describe } from "vitest";
import { authentication } from "./owasp/authentication.ts";
import { businessFlows } from "./owasp/business-flows.ts";
import { functionLevelAuthorization } from "./owasp/function-level.ts";
import { ground } from "./owasp/ground.ts";
import { inventory } from "./owasp/inventory.ts";
import { misconfiguration } from "./owasp/misconfiguration.ts";
import { objectLevelAuthorization } from "./owasp/object-level.ts";
import { objectPropertyAuthorization } from "./owasp/object-property.ts";
import { requestForgery } from "./owasp/request-forgery.ts";
import { resourceConsumption } from "./owasp/resource-consumption.ts";
import { unsafeConsumption } from "./owasp/unsafe-consumption.ts";

const on = ground();

describe("API1:2023 Broken Object Level Authorization", () => objectLevelAuthorization(on));

describe("API2:2023 Broken Authentication", () => authentication(on));

describe("API3:2023 Broken Object Property Level Authorization", () => objectPropertyAuthorization(on));

describe("API4:2023 Unrestricted Resource Consumption", () => resourceConsumption(on));

describe("API5:2023 Broken Function Level Authorization", () => functionLevelAuthorization(on));

describe("API6:2023 Unrestricted Access to Sensitive Business Flows", () => businessFlows(on));

describe("API7:2023 Server Side Request Forgery", () => requestForgery(on));

describe("API8:2023 Security Misconfiguration", () => misconfiguration(on));

describe("API9:2023 Improper Inventory Management", () => inventory(on));

describe("API10:2023 Unsafe Consumption of APIs", () => unsafeConsumption(on));
