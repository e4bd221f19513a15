import{a as r,c as s}from"./chunk-C5UAUKFX.js";function c(p){return class extends s{shouldComponentUpdate(e){let n=this.props,o=Object.keys(e);return o.length!==Object.keys(n).length||o.some(t=>e[t]!==n[t])}render(){return r(p,this.props)}}}export{c as a};
//# sourceMappingURL=chunk-SI5YE23S.js.map
