// Improves pages that work without it. One section a feature.
"use strict";
